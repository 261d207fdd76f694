import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { runs } from '../runs.ts'
import { withService } from '../services/shared.ts'
import { password, secret } from './accounts.ts'
import { OldService, type OldTokens, type OldUser } from './old-service.ts'
import { parallel, type Service, service } from './service.ts'

const OLD_SECRET = 'the secret of the old service, from its environment'

await withService('mongo', ({ url }) => {
  describe('sessions of express-controller-sets and of fieldgate, on one database', () => {
    const address = new URL(url)
    address.pathname = `/legacy${process.pid}`
    const client = new MongoClient(address.href)

    beforeAll(async () => {
      await client.connect()
      await client.db().dropDatabase()
    })
    afterAll(async () => {
      await client.db().dropDatabase()
      await client.close()
    })

    interface Both {
      readonly here: Service
      readonly there: OldService
      /** A user that is signed in there alone. */
      signedIn(): Promise<NonNullable<OldTokens> & { readonly userId: string }>
      /** How many sessions the user has. */
      sessions(userId: string): Promise<number>
    }

    let users = 0

    async function both(refresh: object = {}): Promise<Both> {
      const here = await service({
        store: mongoStore({ url: address.href }),
        auth: {
          token: { secret },
          refresh: { enabled: true, ...refresh },
          legacyTokens: { secret: OLD_SECRET },
        },
      })
      const { collection } = here.User
      const stored = client.db().collection<OldUser>(collection)
      const there = new OldService(stored, OLD_SECRET, here.now)
      return {
        here,
        there,
        async signedIn() {
          users += 1
          const { user } = await here.register(`old${users}@example.com`)
          const _id = await stored.findOne({ email: `old${users}@example.com` } as never)
          await stored.updateOne({ _id: _id?._id as never }, { $set: { refreshTokens: [] } })
          return { userId: user._id, ...(await there.signIn(user._id)) }
        },
        async sessions(userId) {
          const user = await here.stored(userId)
          return (user.refreshTokens as unknown[]).length
        },
      }
    }

    const swap = (here: Service, refreshToken: string) =>
      here.post('/auth/token/refresh', { refreshToken })
    const me = async (here: Service, token: string) =>
      (await here.call('GET', '/auth/me', undefined, token)).status

    it('who signed in there goes on here, with the same session', async () => {
      const { here, signedIn, sessions } = await both()
      const { userId, token, refreshToken } = await signedIn()
      expect(await me(here, token)).toBe(200)
      here.later(60)
      const swapped = await swap(here, refreshToken)
      expect(swapped.status).toBe(200)
      const data = swapped.body.data
      expect(data.refreshToken).toMatch(/~/)
      expect(data).toMatchObject({
        expiresIn: 900,
        refreshExpiresIn: 30 * 86_400,
        user: { _id: userId },
      })
      const list = await here.call('GET', '/auth/sessions', undefined, data.token)
      const created = new Date(here.now() - 60_000).toJSON()
      expect(list.body.data).toMatchObject([
        { id: refreshToken.split('.')[1], current: true, createdAt: created },
      ])
      here.later(60)
      const next = await swap(here, data.refreshToken)
      expect(next.status).toBe(200)
      expect(await me(here, next.body.data.token)).toBe(200)
      expect(await sessions(userId)).toBe(1)
      // The access token of there lasts as long as it says.
      here.later(900)
      expect(await me(here, token)).toBe(401)
    })

    it('a token is swapped once: parallel swaps on two apps get the same one', async () => {
      const one = await both()
      const two = await both()
      const { userId, refreshToken } = await one.signedIn()
      const answers = await parallel(40, (index) =>
        swap(index % 2 === 0 ? one.here : two.here, refreshToken),
      )
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      expect(new Set(answers.map(({ body }) => body.data.refreshToken)).size).toBe(1)
      expect(await one.sessions(userId)).toBe(1)
    })

    it('with no grace, one of many swaps succeeds, and using the token again ends what it gave', async () => {
      const { here, signedIn, sessions } = await both({ graceSeconds: 0 })
      const { userId, refreshToken } = await signedIn()
      const answers = await parallel(20, () => swap(here, refreshToken))
      const right = answers.filter(({ status }) => status === 200)
      expect(right).toHaveLength(1)
      expect(answers.every(({ status }) => status === 200 || status === 401)).toBe(true)
      expect((await swap(here, right[0]?.body.data.refreshToken)).status).toBe(401)
      expect(await sessions(userId)).toBe(0)
    })

    it('a swapped token that is used after the grace ends all sessions, as an own one does', async () => {
      const { here, there, signedIn, sessions } = await both()
      const { userId, refreshToken } = await signedIn()
      await there.signIn(userId)
      const { body } = await swap(here, refreshToken)
      here.later(11)
      expect((await swap(here, refreshToken)).status).toBe(401)
      expect(await sessions(userId)).toBe(0)
      expect((await swap(here, body.data.refreshToken)).status).toBe(401)
    })

    it('without rotation, a client may keep its old token', async () => {
      const { here, signedIn } = await both({ rotate: false })
      const { refreshToken } = await signedIn()
      const first = await swap(here, refreshToken)
      here.later(3600)
      const second = await swap(here, refreshToken)
      expect([first.status, second.status]).toEqual([200, 200])
      expect(second.body.data.refreshToken).toBe(first.body.data.refreshToken)
      expect((await swap(here, first.body.data.refreshToken)).status).toBe(200)
    })

    it('a sign-out here with a token of there ends the session there', async () => {
      const { here, there, signedIn, sessions } = await both()
      const { userId, refreshToken } = await signedIn()
      await here.post('/auth/logout', { refreshToken })
      expect(await sessions(userId)).toBe(0)
      expect(await there.refresh(refreshToken)).toBeUndefined()
      expect((await swap(here, refreshToken)).status).toBe(401)
    })

    it('a sign-out here after the swap ends the session there', async () => {
      const { here, there, signedIn } = await both()
      const { refreshToken } = await signedIn()
      const { body } = await swap(here, refreshToken)
      await here.post('/auth/logout', { refreshToken: body.data.refreshToken })
      expect(await there.refresh(refreshToken)).toBeUndefined()
    })

    it('a sign-out there after the swap ends the session here, access tokens too', async () => {
      const { here, there, signedIn } = await both()
      const { refreshToken } = await signedIn()
      const { body } = await swap(here, refreshToken)
      expect(await me(here, body.data.token)).toBe(200)
      await there.signOut(refreshToken)
      expect(await me(here, body.data.token)).toBe(401)
      expect((await swap(here, body.data.refreshToken)).status).toBe(401)
    })

    it('signing out everywhere and a new password end the sessions of there', async () => {
      const { here, there, signedIn } = await both()
      const one = await signedIn()
      await here.post('/auth/logout/all', {}, one.token)
      expect(await there.refresh(one.refreshToken)).toBeUndefined()
      const two = await signedIn()
      here.later(1)
      const passwords = { currentPassword: password, newPassword: 'quite another battery' }
      expect((await here.post('/auth/password/change', passwords, two.token)).status).toBe(200)
      expect(await there.refresh(two.refreshToken)).toBeUndefined()
      expect(await me(here, two.token)).toBe(401)
    })

    it('nobody is signed out by refreshing on both sides at once', async () => {
      const { here, there, signedIn, sessions } = await both()
      for (let round = 0; round < runs(6); round += 1) {
        const { userId, refreshToken } = await signedIn()
        const [old, ...own] = await Promise.all([
          there.refresh(refreshToken),
          ...[1, 2, 3].map(() => swap(here, refreshToken)),
        ])
        const given = own
          .filter(({ status }) => status === 200)
          .map(({ body }) => body.data.refreshToken as string)
        // One of them, at least, has been served; and every token that is out leads on, one after the other.
        expect(given.length + (old ? 1 : 0)).toBeGreaterThan(0)
        const last = old?.refreshToken ?? given[0] ?? ''
        expect((await swap(here, last)).status, `round ${round}`).toBe(200)
        expect(await sessions(userId)).toBe(1)
      }
    })

    it('back there within the grace, and here again', async () => {
      const { here, there, signedIn, sessions } = await both()
      const { userId, refreshToken } = await signedIn()
      const own = (await swap(here, refreshToken)).body.data.refreshToken
      const old = await there.refresh(refreshToken)
      expect(old).toBeDefined()
      // Both tabs go on here: the one with our token, and the one with the newer one of there.
      const first = await swap(here, own)
      expect(first.status).toBe(200)
      const second = await swap(here, old?.refreshToken ?? '')
      expect(second.status).toBe(200)
      expect(await sessions(userId)).toBe(1)
    })

    it('a sign-out on either side while the other swaps ends the session', async () => {
      const { here, there, signedIn, sessions } = await both()
      for (let round = 0; round < runs(6); round += 1) {
        const { userId, refreshToken } = await signedIn()
        const end =
          round % 2 === 0
            ? () => there.signOut(refreshToken)
            : () => here.post('/auth/logout', { refreshToken })
        await Promise.all([swap(here, refreshToken), end(), swap(here, refreshToken)])
        expect(await sessions(userId), `round ${round}`).toBe(0)
      }
    })

    it('a forged token changes nothing', async () => {
      const { here, signedIn } = await both()
      const { userId, refreshToken } = await signedIn()
      const before = await here.stored(userId)
      const [user, id, random = ''] = refreshToken.split('.')
      const other = random.startsWith('A') ? `B${random.slice(1)}` : `A${random.slice(1)}`
      const forged = [
        `${user}.${id}.${other}`,
        `${user}.${'A'.repeat(16)}.${random}`,
        `${Buffer.from('0'.repeat(24)).toString('base64url')}.${id}.${random}`,
        `${user}.${id}`,
        `${user}.${id}.${random}.${random}`,
        `${user}.${id}.`,
        `..`,
      ]
      for (const token of forged) {
        expect((await swap(here, token)).status, token).toBe(401)
        expect((await here.post('/auth/logout', { refreshToken: token })).status).toBe(200)
      }
      expect(await here.stored(userId)).toEqual(before)
    })
  })
})
