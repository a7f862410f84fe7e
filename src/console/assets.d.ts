/** Files that the bundler turns into addresses or style sheets. */
declare module "*.css";
declare module "*.svg" {
  const address: string;
  // biome-ignore lint/style/noDefaultExport: the bundler gives a file's address as its default export.
  export default address;
}
