/** The common passwords of at least `least` characters, in lower case. */
export declare function commonPasswords(least?: number): Promise<ReadonlySet<string>>
