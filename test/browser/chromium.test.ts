import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Chromium, startChromium } from '../services/chromium.ts'
import { withService } from '../services/shared.ts'

await withService('chromium', () => {
  let chromium: Chromium
  beforeAll(async () => {
    chromium = await startChromium({ isWhole: true })
  })
  afterAll(() => chromium?.stop())

  it('a page that fails says so', async () => {
    const { page, problems } = await chromium.open()
    await page.setContent('<script>throw new Error("of the page")</script>')
    await page.setContent('<script>console.error("in the console")</script><p>shown</p>')
    expect(await page.$eval('p', (shown) => shown.textContent)).toBe('shown')
    expect(problems).toEqual(['Error: of the page', 'in the console'])
  })
})
