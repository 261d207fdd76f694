import { describe, expect, it } from 'vitest'
import { addressOf } from '../../../adapters/stores/postgres/connection/driver.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { withService } from '../../services/shared.ts'

describe('the address of a database', () => {
  it.each([
    ['schema=shop', "the url has 'schema'. Write it as the option 'schema' of postgresStore"],
    ['pgbouncer=true', "Write the option 'prepare: false'"],
    ['connection_limit=5', "Write it as the option 'max'"],
    ['sslmode=verify-full&sslrootcert=/ca.pem', "Give the certificates with the option 'ssl'"],
    ['sslmode=require&gssencmode=require', "the url has 'gssencmode'. Write 'sslmode' instead"],
    ['sslmode=no-verify', "the url has 'sslmode'. Write 'sslmode=require'"],
    ['sslnegotiation=direct', "'sslnegotiation=direct' needs 'sslmode=require' or 'verify-full'"],
    ['TimeZone=Europe/Oslo', "the url has 'TimeZone'. Leave it out"],
  ])('with %s is refused', (query, message) => {
    const open = () => postgresStore({ url: `postgres://u@127.0.0.1/db?${query}` })
    expect(open).toThrow(message)
    expect(open).toThrow(TypeError)
  })

  const at = (host: string, port = 5432) => ({ host, port })
  it.each([
    ['u@/db?host=/run/postgresql', [at('/run/postgresql')]],
    ['u@:5433/db?host=/run/postgresql', [at('/run/postgresql', 5433)]],
    ['/db?host=/run/postgresql&port=5433', [at('/run/postgresql', 5433)]],
    ['u@%2Frun%2Fpostgresql/db', [at('/run/postgresql')]],
    ['u@[::1]:5433/db', [at('::1', 5433)]],
    ['u@[::1],[fe80::2]:7,b/db', [at('::1'), at('fe80::2', 7), at('b')]],
    ['a,b/db?port=6', [at('a', 6), at('b', 6)]],
    ['a,b/db?port=6,7', [at('a', 6), at('b', 7)]],
    ['/db?host=::1,b', [at('::1'), at('b')]],
    ['', [at('localhost')]],
  ])('leads to its hosts: %s', (rest, places) => {
    expect(addressOf(`postgres://${rest}`).places).toEqual(places)
  })

  it('keeps its password and what the server or the driver knows', () => {
    const query = 'sslmode=require&statement_timeout=5000'
    const [places, database] = [[at('a', 1), at('b', 2)], 'my db']
    const url = `postgres://u:p%40%3F@localhost/my%20db?${query}`
    expect(addressOf(`postgres://u:p%40%3F@a:1,b:2/my%20db?${query}`)).toEqual({
      ...{ url, places, database, user: undefined, password: undefined, ssl: undefined },
    })
    const named = { user: 'bob', password: 's/1', database: 'shop' }
    const given = 'postgres://a/db?user=bob&password=s%2F1&dbname=shop&sslrootcert=system'
    expect(addressOf(given)).toMatchObject({ ...named, ssl: 'verify-full' })
    const bound = 'postgres://a/db?channel_binding=require&sslmode=require'
    expect(addressOf(bound)).toMatchObject({ ssl: 'verify-full' })
    expect(() => addressOf('postgres://a/%zz')).toThrow(TypeError)
  })
})

await withService('postgres', ({ url }) => {
  it.each([
    'sslmode=disable&channel_binding=prefer&gssencmode=prefer&keepalives=1&keepalives_idle=30',
    // As Supabase gives it to Vercel, and as node-postgres wants it.
    'sslmode=disable&supa=base-pooler.x&uselibpqcompat=true',
  ])('parameters of others that change nothing are ignored: %s', async (query) => {
    const store = postgresStore({ url: `${url}?${query}`, schema: 'public' })
    await store.prepare([])
    await store.close()
  })

  it.each(['%s', '[::1],%s', '%s?dbname=%s'])('the server is found at %s', async (form) => {
    const { host, username, password, pathname } = new URL(url)
    const [whole = '', query] = form.split('?')
    const path = query ? `/none?${query.replace('%s', pathname.slice(1))}` : pathname
    const credentials = username && `${username}${password && `:${password}`}@`
    const own = `postgres://${credentials}${whole.replace('%s', host)}${path}`
    const store = postgresStore({ url: own, schema: 'public' })
    await store.prepare([])
    await store.close()
  })
})
