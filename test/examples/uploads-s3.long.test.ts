import { expect, it } from 'vitest'
import { cat } from '../contract/images/photos.ts'
import { withService } from '../services/shared.ts'
import { started } from './run.ts'

await withService('seaweed', (place) => {
  it('examples/uploads-s3.ts stores smaller photos, and opens them by links', async () => {
    const send = await started('uploads-s3', 'node', {
      S3_ENDPOINT: place.url,
      S3_BUCKET_NAME: place.bucket,
      S3_REGION: place.region,
      S3_SPACES_KEY: place.accessKeyId,
      S3_SPACES_SECRET: place.secretAccessKey,
    })
    const form = new FormData()
    form.append('title', 'A cat')
    const bytes = new Uint8Array(cat.bytes)
    form.append('image', new File([bytes], 'cat.jpg', { type: cat.type }))
    form.append('details', new File([bytes], 'eyes.jpg', { type: cat.type }))
    expect((await send('POST', '/photos', form)).status).toBe(201)
    const { body } = await send('GET', '/photos?sort=-createdAt&limit=10')
    expect(body.data).toMatchObject([{ title: 'A cat', details: [expect.any(String)] }])
    const [{ image }] = body.data
    const response = await fetch(image)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
    const { byteLength } = await response.arrayBuffer()
    expect(byteLength).toBeLessThan(cat.bytes.length * 0.7)
    const [unsigned] = image.split('?')
    expect((await fetch(unsigned)).status).toBe(403)
  })
})
