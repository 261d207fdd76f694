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
    ['TimeZone=Europe/Oslo', "the url has 'TimeZone'. Leave it out"],
  ])('with %s is refused', (query, message) => {
    const open = () => postgresStore({ url: `postgres://u@127.0.0.1/db?${query}` })
    expect(open).toThrow(message)
    expect(open).toThrow(TypeError)
  })

  it('may be that of a Unix socket', () => {
    const address = { url: 'postgres://u@localhost/db', host: '/run/postgresql' }
    expect(addressOf('postgres://u@/db?host=/run/postgresql')).toEqual(address)
    const other = { ...address, url: 'postgres://u@localhost:5433/db' }
    expect(addressOf('postgres://u@:5433/db?host=/run/postgresql')).toEqual(other)
  })

  it('keeps its hosts, its password and what the server or the driver knows', () => {
    const url = 'postgres://u:p%40%3F@a:1,b:2/db?sslmode=require&statement_timeout=5000'
    expect(addressOf(url)).toEqual({ url })
    const verified = { url: 'postgres://a/db', ssl: 'verify-full' }
    expect(addressOf('postgres://a/db?sslrootcert=system')).toEqual(verified)
  })
})

await withService('postgres', ({ url }) => {
  it('parameters of libpq that change nothing are ignored', async () => {
    const query = 'sslmode=disable&channel_binding=require&keepalives=1&keepalives_idle=30'
    const store = postgresStore({ url: `${url}?${query}`, schema: 'public' })
    await store.prepare([])
    await store.close()
  })
})
