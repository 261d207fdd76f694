/**
 * What the page keeps in this browser; where that keeps nothing, or is full, for as long as the page is open.
 *
 * @module
 */

type Place = 'localStorage' | 'sessionStorage'

/** A storage of the browser that always takes what it is given. */
class Kept {
  readonly #browser: Storage | undefined
  readonly #memory = new Map<string, string>()

  constructor(place: Place) {
    this.#browser = storageAt(place)
    // react-admin looks there as soon as it is loaded, and would throw. Parts of the page are tested without a window.
    if (!this.#browser && 'window' in globalThis) {
      Object.defineProperty(window, place, { value: this })
      // Browsers then refuse locks too, and with them every call of the client would fail.
      Object.defineProperty(navigator, 'locks', { value: undefined, configurable: true })
    }
  }

  getItem(name: string): string | null {
    return this.#memory.get(name) ?? this.#browser?.getItem(name) ?? null
  }

  setItem(name: string, text: string): void {
    if (this.#takes(name, text)) this.#memory.delete(name)
    else this.#memory.set(name, text)
  }

  #takes(name: string, text: string): boolean {
    try {
      this.#browser?.setItem(name, text)
      return this.#browser !== undefined
    } catch {
      // It is full, and what it has is from before.
      this.#browser?.removeItem(name)
      return false
    }
  }

  removeItem(name: string): void {
    this.#memory.delete(name)
    this.#browser?.removeItem(name)
  }

  names(): readonly string[] {
    return [...this.#memory.keys(), ...Object.keys(this.#browser ?? {})]
  }
}

/** The browser's own; undefined where pages may not keep anything. */
function storageAt(place: Place): Storage | undefined {
  try {
    return window[place] ?? undefined
  } catch {
    return undefined
  }
}

/** For good. */
export const local: Kept = new Kept('localStorage')
/** For this tab. */
export const session: Kept = new Kept('sessionStorage')
