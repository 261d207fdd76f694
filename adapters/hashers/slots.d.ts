/** How many native hashes may be computed at once. */
export declare function nativeSlots(): number
