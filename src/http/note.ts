/**
 * Notes on requests: what a module keeps for as long as a request lasts.
 *
 * @module
 */

/**
 * One note, which each request may have. It is kept in the request itself, under a symbol: in a weak map, each would cost
 * the garbage collector some 10 µs.
 */
export class Note<T> {
  readonly #key: symbol

  constructor(description: string) {
    this.#key = Symbol(description)
  }

  /** What is noted on `request`. */
  of(request: Request): T | undefined {
    return Reflect.get(request, this.#key)
  }

  /** Notes `value` on `request`, instead of what was noted before. */
  set(request: Request, value: T): void {
    Reflect.set(request, this.#key, value)
  }
}
