/** The sign of the product. */
export function Mark({ className = "size-6" }: { readonly className?: string }) {
  return (
    <svg viewBox="0 0 32 32" className={className} aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#2456d6" />
      <path
        d="M9 11.5h8.5a3.25 3.25 0 0 1 0 6.5H14a3.25 3.25 0 0 0 0 6.5h9"
        transform="translate(0 -2)"
        fill="none"
        stroke="#fff"
        strokeWidth="2.6"
        strokeLinecap="round"
      />
      <circle cx="23" cy="9.5" r="2" fill="#9dbbff" />
    </svg>
  );
}
