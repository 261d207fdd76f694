import { describe, expect, it } from 'vitest'
import { caseMapped } from '../../src/index.ts'
import { password } from './accounts.ts'
import { service } from './service.ts'

describe('caseMapped', () => {
  // The examples of RFC 8265, 3.5, and what its rules say.
  it.each([
    ['juliet@example.com', 'juliet@example.com'],
    ['fussball', 'fussball'],
    ['fu\u00dfball', 'fu\u00dfball'],
    ['\u03c0', '\u03c0'],
    ['\u03a3', '\u03c3'],
    ['\u03c3', '\u03c3'],
    ['\u03c2', '\u03c2'],
    ['Ann_1', 'ann_1'],
    [' Ann ', 'ann'],
    ['\uff21\uff4e\uff4e', 'ann'],
    ['\uff76\uff9e', '\u30ac'],
    ['Cafe\u0301', 'caf\u00e9'],
    ['l\u00b7l', 'l\u00b7l'],
    ['\u674e\u30fb\u5c0f\u9f99', '\u674e\u30fb\u5c0f\u9f99'],
    ['\u05d0\u05f3\u05d1', '\u05d0\u05f3\u05d1'],
    ['\u0639\u0644\u064a7', '\u0639\u0644\u064a7'],
    ['o-neill', 'o-neill'],
  ])('%j is %j', (text, name) => {
    expect(caseMapped(text)).toBe(name)
  })

  it.each([
    '',
    ' ',
    'foo bar',
    'foo\u00a0bar',
    'henry\u2163',
    '\u265a',
    'a\u200bb',
    'a\u200db',
    'a\u2800',
    '\u13a0\u{13441}',
    'a\u00b7a',
    'a\u30fbb',
    'a\u05f3',
    '\u0375a',
    '\u0661\u06f1',
    '\u0640a',
    '\u1100',
    '\ufb01',
    '\u2460',
    'a\u05d0',
    '\u05d0a',
    '1\u05d0',
    '\u05d0-',
    '\u0639\u06601',
    'a\ud800',
    'x'.repeat(1025),
  ])('%j is no name', (text) => {
    expect(caseMapped(text)).toBeUndefined()
  })

  it('what it gives stays as it is', () => {
    for (let point = 0x21; point < 0x30000; point += 1) {
      const text = String.fromCodePoint(point)
      const once = caseMapped(text)
      if (once !== undefined && caseMapped(once) !== once) {
        expect.fail(`${point.toString(16)} becomes ${once}, and then ${caseMapped(once)}`)
      }
    }
  })

  it('makes user names that differ in case one account', async () => {
    const identifiers = ['email', { field: 'username', normalize: caseMapped }]
    const { post } = await service({ auth: { identifiers, sms: undefined } as never })
    const status = async (path: string, body: object) =>
      (await post(path, { ...body, password })).status
    expect(await status('/auth/register', { username: 'Admin' })).toBe(201)
    expect(await status('/auth/register', { username: '\uff21DMIN' })).toBe(409)
    expect(await status('/auth/register', { username: 'ad min' })).toBe(400)
    expect(await status('/auth/register', { username: 'a@b' })).toBe(400)
    expect(await status('/auth/login', { identifier: 'aDMIN' })).toBe(200)
  })
})
