import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { anchorsOf, chapters, root, textOf } from './pages.ts'

const run = promisify(execFile)
const site = join(root, '.cache/docs/site')

/** What the framework names without asking for it: XML namespaces, pages about its errors, a base for parsing URLs. */
const NAMES = /^https?:\/\/(?:www\.w3\.org|vuejs\.org|a\.com)\b/
/** Where a page makes the browser ask for something by itself. */
const LOADED =
  /<(?!a\b|code\b)[a-z]+\b[^>]*?\s(?:src|srcset|href|data|poster|action)="((?:https?:)?\/\/[^"]*)"/g

const read = (file: string) => readFileSync(join(site, file), 'utf8')
const filesOf = (kind: string) => globSync(`**/*.${kind}`, { cwd: site })

beforeAll(async () => {
  rmSync(site, { recursive: true, force: true })
  const vitepress = join(root, 'node_modules/.bin/vitepress')
  const { PATH, HOME } = process.env
  await run(vitepress, ['build', 'docs'], { cwd: root, env: { PATH, HOME } })
}, 300_000)

describe('the site', () => {
  it('has every page, with the anchors that GitHub makes', () => {
    const pages = chapters()
    expect(pages.filter((page) => !existsSync(join(site, htmlOf(page))))).toEqual([])
    const missing = pages.flatMap((page) => {
      const html = read(htmlOf(page))
      return [...anchorsOf(textOf(page))]
        .filter((anchor) => !html.includes(`id="${anchor}"`))
        .map((anchor) => `${page}#${anchor}`)
    })
    expect(missing).toEqual([])
  })

  it('asks no other origin for anything', () => {
    const loaded = filesOf('html').flatMap((file) =>
      [...read(file).matchAll(LOADED)].map(([, url]) => `${file}: ${url}`),
    )
    expect(loaded).toEqual([])
    const styles = filesOf('css').flatMap((file) =>
      [...read(file).matchAll(/(?:url\(|@import)\s*["']?((?:https?:)?\/\/[^"')\s]+)/g)].map(
        ([, url]) => `${file}: ${url}`,
      ),
    )
    expect(styles).toEqual([])
    // Modules of pages hold the links and programs of their text, and the playground's those of what its app may need; all
    // other modules are the theme's.
    const theme = filesOf('js').filter(
      (file) => !/\.md\.[^/]*\.js$|localSearchIndex|^try\//.test(file),
    )
    const named = theme.flatMap((file) =>
      [...read(file).matchAll(/["'`](https?:\/\/[^"'`\s\\]+)/g)].map(([, url = '']) => url),
    )
    const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly repository: { readonly url: string }
    }
    const own = repository.url.replace(/^git\+|\.git$/g, '')
    expect(named.filter((url) => !NAMES.test(url) && url !== own)).toEqual([])
  })

  it('forbids browsers to ask another origin', () => {
    const open = filesOf('html').filter((file) => !read(file).includes("default-src 'self'"))
    expect(open).toEqual([])
  })

  it('has every file that its pages load', () => {
    const missing = filesOf('html').flatMap((file) =>
      [...read(file).matchAll(/<(?:link|script)\b[^>]*?(?:src|href)="(\/[^"]+)"/g)]
        .map(([, path = '']) => path)
        .filter((path) => !existsSync(join(site, path))),
    )
    expect([...new Set(missing)]).toEqual([])
    const scripts = filesOf('js')
    // VitePress starts a page from this copy of its module.
    const pages = scripts.filter((file) => /\.md\.[\w-]+\.js$/.test(file))
    expect(pages.length).toBeGreaterThan(0)
    expect(pages.filter((file) => !scripts.includes(file.replace(/\.js$/, '.lean.js')))).toEqual([])
  })

  it('shows braces and tags as pages write them, and no comments', () => {
    const html = read('reference/fieldgate.html')
    expect(html).toContain('<code>{{appName}}</code>')
    expect(html).toContain('{{user.&lt;field&gt;}}')
    expect(html).not.toContain('Written by')
  })

  it('has the styles of its own', () => {
    expect(filesOf('css').some((file) => read(file).includes('.language-json pre code'))).toBe(true)
  })

  it('finds words without a server', () => {
    const index = globSync('**/*localSearchIndex*.js', { cwd: site })
    expect(index).toHaveLength(1)
    expect(read(index[0] ?? '')).toContain('createApp')
  })
})

function htmlOf(page: string): string {
  return page.replace(/^docs\//, '').replace(/\.md$/, '.html')
}
