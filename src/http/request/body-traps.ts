/** What a guard or hook sees as the body of its request: the stream, which refuses what is meant for a parsed body. */

/** Refuses a use of the body. */
export interface BodyUses {
  readonly depth: number
  refuse(name: 'body', what: string, reads: boolean): never
}

/** What others than guards read of any object: `await`, JSON, test frameworks, streams and consoles. */
const ALWAYS_READ =
  /^(?:append|body|then|toJSON|asymmetricMatch|nodeType|pipe|on|write|readable|@@.*|\$\$typeof|_\w+State)$/

export function bodyTraps(uses: BodyUses): ProxyHandler<object> {
  // Symbols are the runtime's own: Deno keeps the state of a stream under them. So is what happens after the guard.
  const refuse = (key: unknown, reads: boolean) => {
    if (typeof key === 'symbol' || uses.depth === 0) return
    uses.refuse('body', key ? `body.${key}` : 'body', reads)
  }
  const reads = (target: object, key: PropertyKey = '') => {
    if (!(key in target) && !ALWAYS_READ.test(String(key))) refuse(key, true)
  }
  const reading = (name: 'has' | 'getOwnPropertyDescriptor' | 'ownKeys') => ({
    [name](target: object, key: PropertyKey) {
      reads(target, key)
      return Reflect[name](target, key)
    },
  })
  const writing = (name: 'set' | 'defineProperty' | 'deleteProperty') => ({
    [name](target: object, key: PropertyKey, value: never) {
      refuse(key, false)
      return Reflect[name](target, key, value)
    },
  })
  return {
    get(target, key) {
      reads(target, key)
      const value: unknown = Reflect.get(target, key, target)
      // Methods of a stream work on the stream alone.
      return typeof value === 'function' ? value.bind(target) : value
    },
    ...reading('has'),
    ...reading('getOwnPropertyDescriptor'),
    ...reading('ownKeys'),
    ...writing('set'),
    ...writing('defineProperty'),
    ...writing('deleteProperty'),
  }
}
