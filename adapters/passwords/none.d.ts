/** The common passwords, where the runtime loads them by itself; undefined where not. */
export declare function commonPasswords(least?: number): Promise<ReadonlySet<string> | undefined>
