import { expect, it } from 'vitest'
import { collectionSchema } from '../../src/model/collection-schema.ts'
import { type Service, service } from './service.ts'

/** Values that two people's ids may both become, or that no provider gives. */
const UNUSABLE: readonly unknown[] = [
  ...[Number.NaN, Infinity, 0, -1, 1.5, 1e21, 2 ** 53, null, undefined, true, {}, [1], ['a'], 7n],
  ...['', 'a\0', 'a\nb', '\ud800', 'x'.repeat(256), new Date(0)],
  // What `String(id)` makes of an id that is missing, or is no text.
  ...[String(undefined), String(null), String(Number.NaN), String(1 / 0), String({}), String(true)],
  ...[' ', '\u00a0\u3000'],
]

/** An app with a provider of its own that gives this id. */
function signingInAs(id: () => unknown): Promise<Service> {
  const verify = () => ({ id: id(), email: 'a@b.example' })
  return service({ unique: ['ownId'], auth: { social: { own: { verify } } } as never })
}

it('an id that several people might share signs nobody in, and the log says what to return', async () => {
  let id: unknown
  const { post, users, log } = await signingInAs(() => id)
  for (id of UNUSABLE) {
    const { status, body } = await post('/auth/social/own', {})
    expect([status, body.error]).toEqual([401, 'The provider did not accept this sign-in.'])
  }
  expect(await users.count()).toBe(0)
  const told = log.filter((line) => line.includes('social.own: '))
  expect(told.filter((line) => line.includes('Return it as a string')).length).toBe(UNUSABLE.length)
})

it('ids of up to 255 characters, and numbers that are exact, are each an account of its own', async () => {
  let id: unknown
  const { post, users, User } = await signingInAs(() => id)
  // PostgreSQL has no room in an index for strings without a limit, and says so at the start.
  expect(collectionSchema(User).unbounded).toEqual([])
  const ids = ['x'.repeat(255), 'auth0|5f', 'undefined1', 2 ** 53 - 1, 1, '\u65e5\u{1f600}']
  for (id of ids) {
    const { status, body } = await post('/auth/social/own', {})
    expect([status, body.data?.user.ownId ?? body.error]).toEqual([200, String(id)])
  }
  expect(await users.count()).toBe(ids.length)
})

it('an address and a name of another type than text are as if they were not given', async () => {
  const verify = () => ({ id: '1', email: 5, emailVerified: true, name: ['Ann'] })
  const auth = { social: { own: { verify } } } as never
  const { status, body } = await (await service({ unique: ['ownId'], auth })).post(
    '/auth/social/own',
  )
  expect([status, body.data?.user.email, body.data?.user.name]).toEqual([200, undefined, undefined])
})

it('a name that the model refuses is left out: its bearer could not change it', async () => {
  const verify = () => ({ id: '1', name: 'x'.repeat(101) })
  const { post } = await service({
    unique: ['ownId'],
    auth: { social: { own: { verify } } } as never,
  })
  const { status, body } = await post('/auth/social/own', {})
  expect([status, body.data?.user.name ?? body.error]).toEqual([200, undefined])
})

it('an id is written by no client while its provider is switched off', async () => {
  const social = { own: { verify: () => ({ id: '1' }), enabled: false } }
  const off = await service({ unique: ['ownId'], auth: { social } })
  expect((await off.post('/auth/social/own')).status).toBe(404)
  await expect(
    service({ unique: ['ownId'], auth: { social, updateFields: ['ownId' as never] } }),
  ).rejects.toThrow("Auth: 'updateFields' names 'ownId', which no client may write")
})
