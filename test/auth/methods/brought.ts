/**
 * What a browser brings back from an OpenID provider. The way there has tests of its own: here its end is made by what seals
 * it.
 *
 * @module
 */

import type { Accounts, Method } from '../../../src/methods/index.ts'

/** What a provider says of a person. */
export interface Said {
  readonly sub: string
  readonly email?: string | undefined
  readonly isVouched: unknown
}

/** Codes that the accounts of the methods given to `sealed` take. */
export class Brought {
  #accounts: Accounts | undefined

  /** The method, whose accounts are those that codes are made for. */
  readonly sealed = (method: Method): Method => ({
    ...method,
    open: (given) => {
      this.#accounts = given
      return method.open(given)
    },
  })

  /** A code of `provider`, which says so of a person; good until then, in epoch milliseconds. */
  async code(provider: string, person: Said, until: number): Promise<string> {
    const brought = { id: crypto.randomUUID(), provider, person, until }
    return (await this.#accounts?.encrypt(JSON.stringify(brought), 'code')) ?? ''
  }
}
