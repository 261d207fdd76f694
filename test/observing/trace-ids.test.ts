import { describe, expect, it } from 'vitest'
import { traceParent } from '../../src/ports/services/trace-parent.ts'
import { service } from '../auth/service.ts'
import { album } from '../uploads/album.ts'
import { form, png } from '../uploads/png.ts'
import { note, observedApp } from './observed.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'
const traceparent = `00-${traceId}-${spanId}-01`

describe('traceparent', () => {
  it.each([
    ['of version 00', traceparent, 1],
    ['that is not recorded', `00-${traceId}-${spanId}-00`, 0],
    ['of a later version', `cc-${traceId}-${spanId}-03`, 3],
    ['of a later version that says more', `cc-${traceId}-${spanId}-01-what-more`, 1],
  ])('%s is read', (_, header, flags) => {
    expect(traceParent(header)).toEqual({ traceId, spanId, flags })
  })

  it.each([
    ['none', null],
    ['empty', ''],
    ['upper case', traceparent.toUpperCase()],
    ['version ff', `ff-${traceId}-${spanId}-01`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['a span of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['version 00 that says more', `${traceparent}-more`],
    ['version 00 that goes on', `${traceparent}0`],
    ['a later version that goes on', `cc-${traceId}-${spanId}-010`],
    ['a short trace', `00-${traceId.slice(1)}-${spanId}-01`],
    ['two of them', `${traceparent}, ${traceparent}`],
    ['no flags', `00-${traceId}-${spanId}`],
  ])('%s is invalid', (_, header) => {
    expect(traceParent(header)).toBeUndefined()
  })
})

describe('The lines of a request', () => {
  it('name its trace, whatever they are about', async () => {
    const { ask, lines } = observedApp()
    const headers = { traceparent }
    await ask('/nowhere', { headers })
    await ask('/notes/out', { headers })
    await ask('/notes/broken', { headers })
    await ask('/notes', { headers })
    await ask('/notes', note('one', headers))
    await ask('/notes/own', { headers })
    expect(lines.map(([, message, details]) => [message, details.traceId])).toEqual([
      ['request refused', traceId],
      ['service unavailable', traceId],
      ['request failed', traceId],
      ["Router '/notes': onGet failed, reading without it", traceId],
      ["Router '/notes': runAfterCreate failed", traceId],
      ['an own line', traceId],
    ])
    expect(lines.at(-1)?.[2]).toEqual({ own: true, traceId })
  })

  it('name none for a request without a valid traceparent', async () => {
    const { ask, lines } = observedApp()
    await ask('/nowhere')
    await ask('/notes/own', { headers: { traceparent: `${traceparent}-more` } })
    expect(lines).toHaveLength(2)
    for (const [, , details] of lines) expect(details).not.toHaveProperty('traceId')
  })

  it('name it in what happens to files', async () => {
    const { upload, send, log } = album({
      async before(call) {
        if (call === 'delete') throw new Error('the disk is gone')
      },
    })
    const made = await upload('POST', '/photos', form({ title: 'cat', image: png }))
    const headers = { traceparent }
    expect((await send('DELETE', `/photos/${made.record._id}`, { headers })).status).toBe(200)
    expect(log.lines.map(({ message, details }) => [message, details.traceId])).toEqual([
      ['a stored file could not be removed; the sweeper will', traceId],
    ])
  })

  it('name it in what happens to accounts', async () => {
    const app = await service()
    const body = JSON.stringify({ email: 'ann@example.com', password: 'wrong and long enough' })
    await app.app.handle(
      new Request('http://localhost/auth/login', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', traceparent },
        body: body.replace('email', 'identifier'),
      }),
    )
    const line = app.log.find((each) => each.includes('sign-in-failed'))
    expect(JSON.parse(line ?? '[]')[1]).toMatchObject({ type: 'sign-in-failed', traceId })
  })
})
