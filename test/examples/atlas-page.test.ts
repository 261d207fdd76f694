import { expect, it, onTestFinished } from 'vitest'
import { atlasApp } from '../openapi/apps.ts'

it("every link of the atlas's page leads to a response", async () => {
  const app = atlasApp()
  onTestFinished(() => app.close())
  const ask = (path: string) => app.handle(new Request(`http://localhost${path}`))
  const page = await ask('/')
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const links = [...(await page.text()).matchAll(/href="(\/[^"]*)"/g)].map(([, path = '']) =>
    path.replaceAll('&amp;', '&'),
  )
  expect(links).toContain('/docs')
  expect(links.length).toBeGreaterThan(5)
  for (const path of links) expect((await ask(path)).status, path).toBe(200)
})
