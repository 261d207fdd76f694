/**
 * The people of providers and their accounts: found by issuer and `sub`, linked by an address that both sides have proven,
 * or made.
 */

import { date, maxLength, string } from 'zod/mini'
import { accountExists } from '../../../src/auth/refusals.ts'
import type { Accounts } from '../../../src/auth/setup/method.ts'
import type { ApiRequest } from '../../../src/http/request/request.ts'
import { MethodRecords } from '../../../src/methods/method-model.ts'
import { all, type Filter, is } from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { Person } from './provider.ts'

/** A stored link. It opens its account as long as it has that account's era; with none, it is being made. */
interface Link {
  /** The issuer and the `sub`. */
  readonly key: string
  /** The owner and the issuer: an account has one person of each. */
  readonly place: string
  readonly issuer: string
  readonly owner: string
  readonly era: string
}

/** A person who arrives from a provider. */
export interface Arrival {
  readonly provider: string
  readonly issuer: string
  readonly person: Person
  /** The body of the request: further fields of a new account. */
  readonly body: Fields
  readonly request: ApiRequest
}

/** First sign-ins in parallel make one account: the others find it in the next round. */
const MAX_TRIES = 10
const MAX_LENGTH = 1000

export class Links {
  readonly #accounts: Accounts
  readonly records: MethodRecords<Link>

  constructor(accounts: Accounts) {
    this.#accounts = accounts
    const text = () => string().check(maxLength(MAX_LENGTH))
    this.records = new MethodRecords(accounts, 'OidcLink', {
      fields: {
        ...{ key: text(), place: text(), issuer: text(), owner: text(), era: string() },
        linkedAt: date(),
      },
      unique: ['key', 'place'],
      indexes: ['owner'],
    })
  }

  /** The account of a person; it is linked or made if need be. Throws a 409. */
  async accountOf(arrival: Arrival): Promise<Fields> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const account = await this.#tried(arrival)
      if (account) return account
    }
    throw accountExists()
  }

  /** One round; undefined if another request came first. */
  async #tried(arrival: Arrival): Promise<Fields | undefined> {
    const { email, isVouched } = arrival.person
    const { newcomer, named, isDisabled, create, era } = this.#accounts
    const address = email === undefined ? undefined : newcomer({ identifier: email })
    const link = await this.#linkOf(arrival)
    const linked = await this.#ownerOf(link)
    const owner = address && (await named(address)?.find())
    // A verified address proves the account's own, if they are the same.
    const isOthers = linked && String(owner?._id) !== String(linked._id)
    if (linked && (isOthers || !isVouched)) return linked
    if (!owner) {
      const { body, request, person } = arrival
      const claim = (user: Fields) => this.#claim(arrival, link, user, era(user))
      return create(isVouched ? address : undefined, body, request, { name: person.name, claim })
    }
    if (!isVouched) throw accountExists()
    return isDisabled(owner) ? owner : this.#prove(arrival, link, owner)
  }

  async linked(arrival: Arrival): Promise<Fields | undefined> {
    return this.#ownerOf(await this.#linkOf(arrival))
  }

  #linkOf(arrival: Arrival): Promise<Link | undefined> {
    return this.records.first(is('key', keyOf(arrival)))
  }

  async #ownerOf(link: Link | undefined): Promise<Fields | undefined> {
    const user = link && (await this.#accounts.byId(link.owner))
    return user && this.#isLive(link, user) ? user : undefined
  }

  /** Whether `user` is linked with a person of one of `issuers`. */
  async opens(user: Fields, issuers: readonly string[]): Promise<boolean> {
    const places = issuers.map((issuer) => this.records.first(is('place', placeOf(user, issuer))))
    return (await Promise.all(places)).some(
      (link) => link !== undefined && this.#isLive(link, user),
    )
  }

  /** Notes that the address of `owner` is proven, and links it. Undefined if something else came first. */
  async #prove(
    arrival: Arrival,
    before: Link | undefined,
    owner: Fields,
  ): Promise<Fields | undefined> {
    const { prove, report, tell } = this.#accounts
    const { provider, request } = arrival
    // The first proof on an account ends every way in from before, other links too.
    const user = await prove(owner, request)
    if (!user) return undefined
    const own = before?.owner === String(user._id) ? before : undefined
    if (own && this.#isLive(own, user)) return user
    await this.#clear(arrival, user)
    const isClaimed = await this.#claim(arrival, before, user, '')
    if (!isClaimed || !(await this.#confirm(arrival, user))) return undefined
    if (own) return user
    report(request, 'provider-linked', user._id, provider)
    tell(user, 'providerLinked', request, provider)
    return user
  }

  /** Removes the account's link with another person of the provider, if it has ended. Throws a 409 if it has not. */
  async #clear(arrival: Arrival, user: Fields): Promise<void> {
    const there = await this.records.first(is('place', placeOf(user, arrival.issuer)))
    if (!there || there.key === keyOf(arrival)) return
    // An address may pass to another person at the provider; the account does not.
    if (this.#isLive(there, user)) throw accountExists()
    await this.records.stored.delete(sameAs(there))
  }

  /** Opens a claimed link, if the address still is the account's now that others see the link; else it never opens. */
  async #confirm(arrival: Arrival, user: Fields): Promise<boolean> {
    const { named, newcomer, era } = this.#accounts
    const address = newcomer({ identifier: arrival.person.email })
    const now = address && (await named(address)?.find())
    if (String(now?._id) !== String(user._id)) return false
    const claimed = sameAs({ key: keyOf(arrival), owner: String(user._id), era: '' })
    return (await this.records.stored.update(claimed, { set: { era: era(user) } })) !== null
  }

  /** Stores the link in place of `before`, which opens nothing any more; false if another request was faster. */
  async #claim(
    arrival: Arrival,
    before: Link | undefined,
    user: Fields,
    era: string,
  ): Promise<boolean> {
    const { issuer } = arrival
    const owner = String(user._id)
    const key = keyOf(arrival)
    const link: Link = { key, issuer, owner, era, place: placeOf(user, issuer) }
    const record = { ...link, linkedAt: new Date(this.#accounts.now()) }
    if (!before) return this.records.add({ _id: this.#accounts.newId(), ...record })
    return this.records.change(sameAs(before), record)
  }

  #isLive({ owner, era }: Link, user: Fields): boolean {
    return owner === String(user._id) && era === this.#accounts.era(user)
  }
}

function keyOf({ issuer, person }: Arrival): string {
  return `${person.issuer ?? issuer} ${person.sub}`
}

function placeOf(user: Fields, issuer: string): string {
  return `${String(user._id)} ${issuer}`
}

/** The link as it was read: no other request has changed it. */
function sameAs({ key, owner, era }: Pick<Link, 'key' | 'owner' | 'era'>): Filter {
  const values = Object.entries({ key, owner, era })
  return all(values.map(([field, value]) => is(field, value)))
}
