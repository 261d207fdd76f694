/** What a module keeps for as long as a request lasts. */

/**
 * One value, which each request may have. It is kept in the request itself, under a symbol: in a weak map, each would cost
 * the garbage collector some 10 µs.
 */
export class RequestData<T> {
  readonly #key: symbol

  constructor(description: string) {
    this.#key = Symbol(description)
  }

  /** The value of `request`. */
  of(request: object): T | undefined {
    return Reflect.get(request, this.#key)
  }

  /** Gives `request` a value, instead of the one that it had. */
  set(request: Request, value: T): void {
    Reflect.set(request, this.#key, value)
  }
}
