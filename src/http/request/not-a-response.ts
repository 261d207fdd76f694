/**
 * Refuses what guards ported from Express do to their second argument. There it is the response; here it is the context.
 * An ordinary object would take `res.statusCode = 401` without a word, and the guard would let the request through.
 */

import { MisusedRequest, misusedContexts } from './shield.ts'

/**
 * What guards of Express, Koa and Fastify respond with. Reading these throws too, with the line to write instead. Other
 * methods of a response aren't there, so calling them throws anyway.
 */
const OF_A_RESPONSE =
  /^(?:status(?:Code|Message)?|send(?:Status|File)?|jsonp?|end|writeHead|redirect|render|set(?:Header)?|header|(?:clearC|c)ookie|locals|code)$/

/** What a context has is found before this, so the one proxy costs no request anything. */
const NOT_A_RESPONSE: object = new Proxy(
  {},
  {
    get(target, key, context) {
      if (OF_A_RESPONSE.test(String(key))) refuse(context, 'reads', key)
      return Reflect.get(target, key, context)
    },
    set(target, key, value, context) {
      // A context that is being made has no base path yet: bundlers may turn its fields into assignments.
      if (typeof key === 'string' && context.basePath !== undefined)
        refuse(context, 'writes to', key)
      return Reflect.set(target, key, value, context)
    },
  },
)

function refuse(context: object, does: string, key: string | symbol): never {
  const misuse = new MisusedRequest(
    `a guard or handler ${does} context.${String(key)}, but the context is not a response of Express. To refuse a request, write throw new HttpError(401, '…'). To set a header, write context.headers.set(name, value)`,
  )
  misusedContexts.set(context, misuse)
  throw misuse
}

/** Makes `context`, or the prototype of contexts, refuse to be used as a response; returns it. */
export function notAResponse<T extends object>(context: T): T {
  return Object.setPrototypeOf(context, NOT_A_RESPONSE)
}
