import { describe, expect, it } from 'vitest'
import { raw, received, start } from './server.ts'

import { serving } from './serving.ts'

serving('deno')
serving('bun')

describe('serve on deno', () => {
  it('answers 503 while it waits for a body to end before it closes', async () => {
    const { url, said, tell } = await start('deno')
    const client = raw(url, 'POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc')
    const answer = received(client)
    await said('reading')
    tell('close')
    const statusOf = async () => (await fetch(`${url}/echo`)).status
    await expect.poll(statusOf).toBe(503)
    const refused = await fetch(`${url}/echo`)
    expect([...refused.headers]).toEqual(
      expect.arrayContaining([
        ['connection', 'close'],
        ['retry-after', '5'],
      ]),
    )
    expect(await refused.json()).toMatchObject({ success: false, requestId: expect.any(String) })
    client.write('def')
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /)
    await said('closed')
  })
})
