/** Where tokens are kept: `localStorage`, or anything like it, which may be asynchronous. */
export interface TokenStorage {
  getItem(key: string): string | null | Promise<string | null>
  setItem(key: string, value: string): unknown
  removeItem(key: string): unknown
}

/**
 * A storage that lasts as long as the program, for scripts and tests:
 *
 * ```ts
 * const api = createClient<typeof app>('https://api.example.com', { storage: memoryStorage() })
 * ```
 */
export function memoryStorage(): TokenStorage {
  const items = new Map<string, string>()
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => items.set(key, value),
    removeItem: (key) => items.delete(key),
  }
}

/** `localStorage`, where it may be used. */
export function pageStorage(): TokenStorage | undefined {
  try {
    // Not without a window: reading it on Node would warn.
    return (globalThis as unknown as { window: { localStorage?: TokenStorage } }).window
      .localStorage
  } catch {
    return undefined
  }
}
