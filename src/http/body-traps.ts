/**
 * What a guard or hook sees as the body of its request: the stream, which refuses what is meant for a parsed body.
 */

/** Refuses a use of the body. */
export interface BodyUses {
  /** How many guards and hooks run now. */
  readonly depth: number
  refuse(name: 'body', what: string, reads: boolean): never
}

/** What others than guards read of any object: `await`, JSON, test frameworks, streams and consoles. */
const ALWAYS_READ =
  /^(?:append|body|then|toJSON|asymmetricMatch|nodeType|pipe|on|write|readable|@@.*|\$\$typeof|_\w+State)$/

/** The traps of a proxy of the stream. */
export class BodyTraps implements ProxyHandler<object> {
  readonly #uses: BodyUses

  constructor(uses: BodyUses) {
    this.#uses = uses
  }

  get(target: object, key: string | symbol): unknown {
    this.#reads(target, key)
    const value: unknown = Reflect.get(target, key, target)
    // Methods of a stream work on the stream alone.
    return typeof value === 'function' ? value.bind(target) : value
  }

  has(target: object, key: string | symbol): boolean {
    this.#reads(target, key)
    return Reflect.has(target, key)
  }

  getOwnPropertyDescriptor(target: object, key: string | symbol): PropertyDescriptor | undefined {
    this.#reads(target, key)
    return Reflect.getOwnPropertyDescriptor(target, key)
  }

  ownKeys(target: object): (string | symbol)[] {
    this.#reads(target)
    return Reflect.ownKeys(target)
  }

  set(target: object, key: string | symbol, value: unknown): boolean {
    this.#refuse(key)
    return Reflect.set(target, key, value)
  }

  defineProperty(target: object, key: string | symbol, descriptor: PropertyDescriptor): boolean {
    this.#refuse(key)
    return Reflect.defineProperty(target, key, descriptor)
  }

  deleteProperty(target: object, key: string | symbol): boolean {
    this.#refuse(key)
    return Reflect.deleteProperty(target, key)
  }

  #reads(target: object, key: string | symbol = ''): void {
    if (!(key in target) && !ALWAYS_READ.test(String(key))) this.#refuse(key, true)
  }

  // Symbols are the runtime's own: Deno keeps the state of a stream under them. So is what happens after the guard.
  #refuse(key: string | symbol, reads = false): void {
    if (typeof key === 'symbol' || this.#uses.depth === 0) return
    this.#uses.refuse('body', key ? `body.${key}` : 'body', reads)
  }
}
