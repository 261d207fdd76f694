/**
 * The manual as a site: `npm run docs` builds it into `.cache/docs/site`. `docs/.vitepress` leads here.
 *
 * @module
 */

import { copyFileSync, cpSync, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type DefaultTheme, defineConfig } from 'vitepress'
import { writeAgentDocs } from '../agent-docs.ts'
import { buildPlayground } from '../playground/build.ts'
import { asOnGitHub } from './markdown.ts'
import { sidebar } from './sidebar.ts'
import { slugify } from './slugify.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const { repository, description } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
  readonly repository: { readonly url: string }
  readonly description: string
}
const pages = sidebar(`${root}docs/`)
const source = repository.url.replace(/^git\+|\.git$/g, '')

/** The browser itself refuses whatever would come from elsewhere. VitePress writes its start into the page. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
].join('; ')

/** A gate with three bars. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="none" stroke="#3451b2" stroke-width="2"><path d="M2 2v12M14 2v12M2 4h12M2 8h12M2 12h12"/></svg>`

/** The theme would take icons that it lacks from a server of others. */
function withoutIcons(code: string, id: string): string | undefined {
  if (!id.includes('VPSocialLink')) return undefined
  return code.replace(/https:\/\/api\.iconify\.design/g, '')
}

type Render = NonNullable<DefaultTheme.LocalSearchOptions['_render']>

/** The search finds the words of programs, whose colours take longer than all else of a page. */
const withoutColours: Render = (text, env, markdown) => {
  const { highlight = null } = markdown.options
  try {
    return markdown.set({ highlight: null }).render(text, env)
  } finally {
    markdown.set({ highlight })
  }
}

/**
 * VitePress 1 starts a page from a copy of its module without the static parts, which it fails to write with Vite 8
 * (Vite 5, its own, would bring a second bundler, with binaries). The whole module does as well. VitePress 2 ends this.
 */
function addLeanPages(assets: string): void {
  const pages = globSync('*.md.*.js', { cwd: assets }).filter((name) => !name.endsWith('.lean.js'))
  for (const name of pages) {
    copyFileSync(`${assets}/${name}`, `${assets}/${name.replace(/\.js$/, '.lean.js')}`)
  }
}

/** What coding agents read, with the pages that it leads to, as they are. */
function addAgentDocs(outDir: string): void {
  writeAgentDocs(outDir)
  for (const page of globSync('docs/**/*.md', { cwd: root }))
    cpSync(root + page, `${outDir}/${page}`)
}

export const config: ReturnType<typeof defineConfig> = defineConfig({
  title: 'fieldgate',
  description,
  lang: 'en',
  outDir: `${root}.cache/docs/site`,
  cacheDir: `${root}.cache/docs/vitepress`,
  // test/docs/links.test.ts finds them, with their lines.
  ignoreDeadLinks: true,
  head: [
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: POLICY }],
    ['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(ICON)}` }],
  ],
  async buildEnd({ outDir }) {
    addLeanPages(`${outDir}/assets`)
    addAgentDocs(outDir)
    await buildPlayground(`${outDir}/try`)
  },
  markdown: {
    anchor: { slugify },
    headers: { slugify },
    toc: { slugify },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark' },
    config: (markdown) => asOnGitHub(markdown, `${source}/blob/main/`),
  },
  vite: { plugins: [{ name: 'no-other-origin', enforce: 'pre', transform: withoutIcons }] },
  themeConfig: {
    nav: [
      { text: 'Manual', link: pages[0]?.items?.[0]?.link ?? '/' },
      { text: 'Reference', link: '/reference/' },
      { text: 'Playground', link: '/try/', target: '_self' },
    ],
    sidebar: pages,
    outline: [2, 3],
    search: { provider: 'local', options: { _render: withoutColours } },
    socialLinks: [{ icon: 'github', link: source }],
    externalLinkIcon: true,
  },
})
