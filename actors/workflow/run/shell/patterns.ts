/** Stretches of a shell script that every shell reads alike. A NUL character stands for a value. */

export const blanks = /[ \t]+/y;
/** Characters that only make up words. */
export const plain = /[^\0 \t\n\\'"`$#;&|<>()[]+/y;
export const name = /[A-Za-z_][A-Za-z0-9_]*/y;
/** Expansions that every shell ends at the same place. */
export const parameter = /\$\{[A-Za-z0-9_#?@*!$-](?:[^'"\\`${}()<>]|\$\{\w+\}|\$(?=\w))*\}/y;
export const arithmetic =
  /\(\((?:[\w\s+*/%<>=!&|^~?:,\0-]|\$(?=\w)|\$\{\w+\}|\((?:[\w\s+*/%<>=!&|^~?:,\0-]|\$(?=\w))*\))*\)\)/y;
/** Arithmetic of old, to bash and zsh. */
export const bracketed = /\$\[[\w\s+*/%\0-]*\]/y;
/** ANSI-C quotes without escapes: bash and older shells end them at the same quote. */
export const ansi = /\$'[^'\\]*'/y;
export const emptyParentheses = /\([ \t]*\)/y;
