/**
 * A member of a request as the runtime has it, below what has been put on the request itself.
 *
 * @module
 */

export function ofPlatform<K extends 'body' | 'signal'>(request: Request, name: K): Request[K] {
  try {
    return Reflect.get(Object.getPrototypeOf(request), name, request)
  } catch {
    // Next.js hands out proxies of its requests: they alone reach the private fields that Node keeps it in since 24.
    const own = Object.getOwnPropertyDescriptor(request, name)
    Reflect.deleteProperty(request, name)
    try {
      return request[name]
    } finally {
      if (own) Object.defineProperty(request, name, own)
    }
  }
}
