/** Hashes and verifies passwords. The caller bounds the work, not the hasher. */
export interface Hasher {
  /** A self-describing hash of `plain`: `scrypt$<N>$<r>$<p>$<salt base64url>$<hash base64url>`. */
  hash(plain: string): Promise<string>
  /** Whether `plain` gives `stored`; false for a string in no known format. Takes the same time either way. */
  verify(plain: string, stored: string): Promise<boolean>
  /** Whether `stored` was made with older parameters than `hash` uses. */
  needsRehash(stored: string): boolean
}
