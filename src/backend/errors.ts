/** The native library is missing, incomplete or of another version. */
export class LibraryError extends Error {
  override name = "LibraryError";
}
