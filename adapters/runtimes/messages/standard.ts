/**
 * Node makes its `Headers`, `Request` and `Response` when a program first touches one of them, and everything that `fetch`
 * needs with them: about 20 ms of the processor and 8 MiB, a sixth of what a first response costs. So fieldgate's own classes
 * stand in for them, and touch them only if somebody else does.
 */

const BODY = ['arrayBuffer', 'blob', 'bytes', 'clone', 'formData', 'json', 'text']
// Since Node 26.
if (Number.parseInt(process.versions.undici ?? '', 10) >= 8) BODY.push('textStream')

/** The values and the methods of each class. `standard.slow.test.ts` compares them with Node's. */
const MEMBERS: Record<
  'Headers' | 'Request' | 'Response',
  readonly [string[], (string | symbol)[]]
> = {
  Headers: [
    [],
    [
      ...'append delete entries forEach get getSetCookie has keys set values'.split(' '),
      Symbol.iterator,
    ],
  ],
  Request: [
    [
      'body bodyUsed cache credentials destination duplex headers integrity isHistoryNavigation',
      'isReloadNavigation keepalive method mode redirect referrer referrerPolicy signal url',
    ].flatMap((names) => names.split(' ')),
    BODY,
  ],
  Response: ['body bodyUsed headers ok redirected status statusText type url'.split(' '), BODY],
}

/** What makes the classes the standard's, once somebody asks. */
const links = new Set<() => unknown>()

/**
 * Makes all of them the standard's. For a process that has these, or has much to do: until then, what a request has not is
 * looked for beyond its class too, which takes a microsecond each time.
 */
export function linkAll(): void {
  for (const link of links) link()
}

/** What Node has loaded if it has made the classes. */
const MADE = 'NativeModule internal/deps/undici/undici'

/** What `console.log` asks for. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/**
 * Makes the instances of `own` pass for those of the global class `name`. The members that `own` has not are those of the
 * standard object that `standardOf` makes of an instance.
 */
export function standIn<T extends object, A extends unknown[], S extends object>(
  own: { readonly prototype: T; new (...args: A): T },
  name: keyof typeof MEMBERS,
  standardOf: (instance: T) => S,
): new (
  ...args: A
) => S & T {
  const { prototype } = own
  const define = (key: string | symbol, how: PropertyDescriptor) =>
    Object.defineProperty(prototype, key, { configurable: true, ...how })
  const passOn = (key: string | symbol) =>
    define(key, {
      get(this: T) {
        return Reflect.get(standardOf(this), key)
      },
      set(this: T, value: unknown) {
        Reflect.set(standardOf(this), key, value)
      },
    })
  const [values, methods] = MEMBERS[name]
  for (const key of values) if (!Object.hasOwn(prototype, key)) passOn(key)
  for (const key of [...methods, INSPECT].filter((key) => !Object.hasOwn(prototype, key))) {
    define(key, {
      value(this: T, ...given: unknown[]) {
        const standard = standardOf(this)
        return Reflect.apply(Reflect.get(standard, key) as () => unknown, standard, given)
      },
      writable: true,
    })
  }
  define(Symbol.toStringTag, { value: name })
  define('constructor', { get: () => globalThis[name] })
  // Whoever waits for an instance asks for it, which would be a way to the end of the prototypes.
  define('then', { value: undefined })
  const standardFor = (given: unknown) => (given instanceof own ? standardOf(given) : given)
  const link = () => {
    links.delete(link)
    // From now on it is as if it had been there from the start.
    Object.setPrototypeOf(prototype, globalThis[name].prototype)
    Reflect.deleteProperty(prototype, 'then')
    if (name !== 'Request') return
    // `new Request(request)` reads what is inside: under symbols on Node 22, in private fields on later ones.
    const inside = Object.getOwnPropertySymbols(new Request('http://a'))
    for (const key of inside) passOn(key)
    if (inside.length > 0) return
    const passed = passing(Request, standardFor)
    passed.prototype.constructor = passed
    Reflect.set(globalThis, name, passed)
  }
  links.add(link)
  // `instanceof` asks for the prototypes one by one, and so does everything that has a standard object in its hands.
  const getPrototypeOf = () => {
    linkAll()
    return Object.getPrototypeOf(prototype)
  }
  Object.setPrototypeOf(prototype, new Proxy(Object.prototype, { getPrototypeOf }))
  const { versions, moduleLoadList } = process as typeof process & { moduleLoadList?: string[] }
  // So does `fetch(request)`, which is there from the start.
  if (name === 'Request' && !versions.undici?.startsWith('6.')) {
    const linked = (given: unknown) => {
      linkAll()
      return standardFor(given)
    }
    Reflect.set(globalThis, 'fetch', passing(fetch, linked))
  }
  // Bun and Deno, which have node:http too, have made all of it, as Node has in a program that uses it.
  if (!versions.undici || moduleLoadList?.includes(MADE)) link()
  return own as never
}

/** `what`, which gets what `pass` makes of the first thing that it is given. */
function passing<F extends typeof fetch | typeof Request>(
  what: F,
  pass: (given: unknown) => unknown,
): F {
  const passed = (all: unknown[]) => all.map((given, at) => (at === 0 ? pass(given) : given))
  return new Proxy(what, {
    apply: (target, self, all) => Reflect.apply(target as typeof fetch, self, passed(all)),
    construct: (target, all, made) => Reflect.construct(target, passed(all), made),
  })
}
