/** The file store port's promises about URLs and signed links. */

import { equal, match, ok } from '../assert.ts'
import type { Contract } from '../verify.ts'
import { newKey, type OpenFiles, put } from './ask.ts'

/** URLs and signed links. */
export const links: Contract<OpenFiles> = {
  async 'bytes come back under a signed link, with their type and disposition'({ files, get }) {
    const url = await put(files, 'hello', {
      contentType: 'application/pdf',
      contentDisposition: 'attachment',
    })
    const response = await get(await files.signedUrl(url, 60))
    equal(response.status, 200)
    equal(response.headers.get('content-type'), 'application/pdf')
    match(response.headers.get('content-disposition') ?? '', /^attachment/)
    equal(await response.text(), 'hello')
  },

  async 'put resolves to the URL that urlOf gives, and keyOf leads back from it and from signed links'({
    files,
  }) {
    const key = newKey('some/folder')
    const url = await put(files, 'x', {}, key)
    equal(url, files.urlOf(key))
    equal(files.keyOf(url), key)
    equal(files.keyOf(await files.signedUrl(url, 60)), key)
  },

  async 'keyOf knows no other text'({ files }) {
    const url = files.urlOf('files/1-a.png')
    for (const other of [
      '',
      'files/1-a.png',
      'https://example.com/files/1-a.png',
      `x${url}`,
      url.replace('files/', 'files/../'),
      url.replace('files/', '/etc/'),
      url.replace('1-a', '%2e%2e%2f1-a'),
      url.replace('1-a', '1 a'),
      files.urlOf(''),
    ]) {
      equal(files.keyOf(other), undefined, other)
    }
  },

  async 'a private object does not open without a signature'({ files, get }) {
    const url = await put(files, 'secret')
    const response = await get(url)
    equal(response.status, 403)
    ok(!(await response.text()).includes('secret'))
  },

  async 'a public-read object opens for everybody'({ files, get }) {
    const url = await put(files, 'for all', { acl: 'public-read' })
    const response = await get(url)
    equal(response.status, 200)
    equal(await response.text(), 'for all')
  },

  async 'a forged link does not open, and a link opens no other object'({ files, get }) {
    const link = await files.signedUrl(await put(files, 'mine'), 60)
    const other = newKey()
    await put(files, 'other', {}, other)
    const [, query = ''] = link.split('?')
    equal((await get(`${files.urlOf(other)}?${query}`)).status, 403)
    const forged = link.replace(
      /(signature=)(.)/i,
      (_, name, first) => name + (first === 'a' ? 'b' : 'a'),
    )
    equal((await get(forged)).status, 403)
    const longer = link.replace(
      /(expires=)(\d+)/i,
      (_, name, seconds) => name + (Number(seconds) + 1000),
    )
    equal((await get(longer)).status, 403)
  },

  async 'a signed link expires'({ files, get, pass }) {
    const link = await files.signedUrl(await put(files, 'soon gone'), 1)
    pass?.(2)
    const deadline = Date.now() + 10_000
    let { status } = await get(link)
    while (status === 200 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 250))
      status = (await get(link)).status
    }
    equal(status, 403)
  },

  async 'a steady link stays the same for a while, and then opens the object as long as was asked'({
    files,
    get,
    pass,
  }) {
    const url = await put(files, 'steady')
    const day = 24 * 60 * 60
    const links = new Set<string>()
    for (let round = 0; round < 4; round += 1) {
      links.add(await files.signedUrl(url, 60, day))
      // A link that is not steady differs after a second.
      if (pass) pass(1)
      else await new Promise((resolve) => setTimeout(resolve, 400))
    }
    // Midnight may pass once.
    ok(links.size <= 2, `${links.size} links`)
    for (const link of links) equal(await (await get(link)).text(), 'steady')
  },

  async 'a part of an object is a 206, and one beyond its end is refused'({ files, get }) {
    const link = await files.signedUrl(await put(files, '0123456789'), 60)
    for (const [range, part, content] of [
      ['bytes=2-4', 'bytes 2-4/10', '234'],
      ['bytes=7-', 'bytes 7-9/10', '789'],
      ['bytes=-2', 'bytes 8-9/10', '89'],
      ['bytes=5-500', 'bytes 5-9/10', '56789'],
    ] as const) {
      const response = await get(link, { range })
      equal(response.status, 206, range)
      equal(response.headers.get('content-range'), part)
      equal(await response.text(), content)
    }
    equal((await get(link, { range: 'bytes=10-' })).status, 416)
  },

  async 'an object that a client has already is a 304'({ files, get }) {
    const link = await files.signedUrl(await put(files, 'unchanged'), 60)
    const first = await get(link)
    await first.text()
    const etag = first.headers.get('etag') ?? ''
    match(etag, /^"[^"]+"$/)
    const second = await get(link, { 'if-none-match': etag })
    equal(second.status, 304)
    equal(await second.text(), '')
    equal((await get(link, { 'if-none-match': '"other"' })).status, 200)
  },
}
