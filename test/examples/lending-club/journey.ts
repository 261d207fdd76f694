/**
 * What people do in the lending club, request by request, wherever it is served.
 *
 * @module
 */

import { expect } from 'vitest'
import type { App } from '../../../src/index.ts'
import { lastDefined } from '../../../src/model/model.ts'
import { form, png } from '../../uploads/png.ts'
import type { Send } from '../run.ts'

/** A club to use. */
export interface Club {
  /** Sends a request, and reads the answer as JSON. */
  readonly send: Send
  /** Sends a request, and gives the response as it is. */
  ask(path: string, init: RequestInit): Promise<Response>
  /** The latest mail to this address. */
  mail(to: string): Promise<string>
  /** Makes the member with this address a librarian. */
  promote(email: string): Promise<void>
}

/** Makes a member of this app a librarian. */
export async function promoteIn({ store }: App, email: string): Promise<void> {
  const users = store.collection<{ email: string; role: string }>(lastDefined('User') as never)
  await users.updateWhere({ email }, { role: 'librarian' })
}

/** What a person is signed in by. */
type Signed = Readonly<Record<string, string>>

async function signIn({ send, mail }: Club, identifier: string): Promise<Signed> {
  expect((await send('POST', '/auth/login/code', { identifier })).status).toBe(200)
  await expect.poll(() => mail(identifier)).toMatch(/\d{6}/)
  const [otp] = /\d{6}/.exec(await mail(identifier)) ?? []
  const { status, body } = await send('POST', '/auth/login', { identifier, otp })
  expect([status, body.data?.user.tickets]).toEqual([200, 3])
  return { Authorization: `Bearer ${body.data.token}` }
}

/** A member, and a librarian with two tools on the shelf. */
async function opened(club: Club) {
  const { send, ask, promote } = club
  const ann = await signIn(club, 'ann@example.com')
  const lib = await signIn(club, 'lib@example.com')
  const saw = { name: 'Circular saw', kind: 'saw', about: '1,200 W' }
  expect((await send('POST', '/tools', saw, ann)).status).toBe(403)
  expect((await send('POST', '/tools', saw)).status).toBe(401)
  await promote('lib@example.com')
  const photo = form({ name: 'Ladder', kind: 'ladder', photo: png })
  const made = [await send('POST', '/tools', saw, lib), await send('POST', '/tools', photo, lib)]
  expect(made.map(({ status }) => status)).toEqual([201, 201])
  expect(await send('POST', '/tools', { name: '', kind: 'spoon' }, lib)).toMatchObject({
    status: 400,
    body: { fields: { name: expect.any(String), kind: expect.any(String) } },
  })
  const shown = await ask(made[1]?.body.data.photo, {})
  expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect((await send('GET', '/tools?s=1,200&kind=saw')).body.data).toMatchObject([saw])
  const [first, second] = made.map(({ body }) => String(body.data._id))
  return { ann, lib, saw: String(first), ladder: String(second) }
}

const days = (from: number, to: number) => ({
  from: new Date(Date.UTC(2030, 0, from)).toISOString(),
  to: new Date(Date.UTC(2030, 0, to)).toISOString(),
})

/** The whole life of a club. */
export async function liveThrough(club: Club): Promise<void> {
  const { send, ask, mail } = club
  const { ann, lib, saw, ladder } = await opened(club)
  const book = (tool: string, from: number, to: number, who = ann) =>
    send('POST', '/loans/book', { tool, ...days(from, to) }, who)
  const end = (id: string, status: string, who = lib) =>
    send('POST', `/loans/${id}/status`, { status }, who)
  const tickets = async () => (await send('GET', '/auth/me', undefined, ann)).body.data.tickets

  // Of ten bookings of the same days at once, one is taken, and one ticket.
  const all = await Promise.all(Array.from({ length: 10 }, (_, at) => book(saw, 1 + (at % 3), 5)))
  const statuses = all.map(({ status }) => status)
  expect(statuses.filter((status) => status === 201 || status === 200)).toHaveLength(1)
  expect(statuses.filter((status) => status === 409)).toHaveLength(9)
  expect(await tickets()).toBe(2)
  await expect.poll(() => mail('ann@example.com')).toContain('Booked: Circular saw')
  const refused = await book(saw, 4, 6)
  expect(refused).toMatchObject({ status: 409, body: { error: 'Overlaps an existing entry.' } })
  expect((await book(saw, 6, 6)).status).toBe(400)
  expect((await book('f'.repeat(24), 6, 7)).status).toBe(404)
  expect((await book(saw, 5, 7)).status).toBe(200)
  const last = await book(ladder, 1, 9)
  expect(last.body.data).toMatchObject({ ...days(1, 9), status: 'booked' })
  expect(await book(ladder, 20, 21)).toMatchObject({
    status: 409,
    body: { error: 'You have no ticket left.' },
  })

  // Only the librarian lends out and takes back, in this order; everyone may cancel what they have booked.
  const id = last.body.data._id
  expect((await end(id, 'lent', ann)).status).toBe(404)
  expect(await end(id, 'returned')).toMatchObject({
    status: 409,
    body: { error: "'status' cannot change from 'booked' to 'returned'." },
  })
  expect(await tickets()).toBe(0)
  expect((await end(id, 'lent')).body.data).toEqual({ status: 'lent' })
  expect((await end(id, 'cancelled', ann)).status).toBe(409)
  expect((await end(id, 'returned')).status).toBe(200)
  const booked = await send('GET', '/loans?status=booked&sort=-from', undefined, ann)
  expect((await end(booked.body.data[0]._id, 'cancelled', ann)).status).toBe(200)
  expect(await tickets()).toBe(2)
  expect((await send('PATCH', `/loans/${id}`, { status: 'booked' }, lib)).status).toBe(405)
  expect((await send('DELETE', `/tools/${ladder}`, undefined, lib)).status).toBe(409)

  // Members see their own loans, the librarian all; statistics and the file follow the same rule.
  expect((await send('GET', '/loans', undefined, lib)).body.data).toHaveLength(3)
  const bob = await signIn(club, 'bob@example.com')
  expect((await send('GET', '/loans', undefined, bob)).body.data).toEqual([])
  const aggregate = { aggregate: { count: true }, by: ['tool'], sort: ['-count'] }
  const groups = (who: Signed) => send('QUERY', '/loans', aggregate, who)
  expect((await groups(lib)).body.data).toEqual([
    { tool: saw, count: 2 },
    { tool: ladder, count: 1 },
  ])
  expect((await groups(bob)).body.data).toEqual([])
  const query = '/loans?expand=tool,member&select=tool.name,member.email,status'
  const csv = await ask(query, { headers: { ...lib, Accept: 'text/csv' } })
  expect(csv.headers.get('content-type')).toContain('text/csv')
  const [header = '', ...rows] = (await csv.text()).trim().split('\r\n')
  expect(header).toBe('_id,status,tool._id,tool.name,member._id,member.email')
  const told = rows.map((row) => row.split(',').filter((_, at) => at % 2 === 1)).toSorted()
  expect(told).toEqual([
    ['booked', 'Circular saw', 'ann@example.com'],
    ['cancelled', 'Circular saw', 'ann@example.com'],
    ['returned', 'Ladder', 'ann@example.com'],
  ])
}
