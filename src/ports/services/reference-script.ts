/** The script that renders the reference page, which an adapter finds. */
export interface ReferenceScript {
  /** The version of the package. */
  readonly version: string
  /** The script as it is. */
  read(): Promise<Uint8Array<ArrayBuffer>>
  /** The script compressed with gzip. */
  gzipped(): Promise<Uint8Array<ArrayBuffer>>
}
