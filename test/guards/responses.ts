/**
 * What a response of Express is used for, tried on the context of a guard.
 *
 * @module
 */

import { type Guard, HttpError } from '../../src/index.ts'

// biome-ignore lint/suspicious/noExplicitAny: the habits that these tests show do not compile otherwise.
export type Loose = any

/** The names of all members of `objects` and of their prototypes, but for those that every object has. */
export function namesOf(...objects: readonly object[]): readonly string[] {
  const names = new Set<string>()
  for (const object of objects) {
    let each: object | null = object
    while (each && each !== Object.prototype) {
      for (const name of Object.getOwnPropertyNames(each)) names.add(name)
      each = Object.getPrototypeOf(each)
    }
  }
  return [...names].filter((name) => !(name in Object.prototype))
}

/** Guards that refuse by `name` of a response, as middlewares of Express do. */
export function refusalsBy(name: string): readonly Guard[] {
  // Code without strict mode, as in CommonJS modules, does not notice a failed assignment.
  const sloppily = new Function('req', 'res', `res[${JSON.stringify(name)}] = 401`)
  return [
    (_, response: Loose) => void response[name](401),
    (_, response: Loose) => response[name]('Unauthorized'),
    (_, response: Loose) => {
      response[name] = 401
    },
    (_, response) => void Object.assign(response, { [name]: 401 }),
    sloppily as Guard,
  ]
}

/** Guards that refuse by calling `name` of a request. */
export const callsOf = (name: string): readonly Guard[] => [
  (request: Loose) => void request[name](401),
  (request: Loose) => {
    if (!request[name]('authorization')) throw new HttpError(401, 'Unauthorized')
  },
]
