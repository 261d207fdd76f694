import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchorsOf, chapters, linksOf, root, slugOf, textOf } from './pages.ts'

const pages = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
  'examples/README.md',
  ...chapters(),
].filter((page) => existsSync(join(root, page)))

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly files: readonly string[]
  readonly repository?: { readonly url: string }
}

const links = pages.flatMap((page) =>
  linksOf(textOf(page)).map((link) => ({ ...link, page, place: `${page}:${link.line}` })),
)
const isAbsolute = (target: string) => /^[a-z][a-z+.-]*:/i.test(target)
const relative = links.filter(({ target }) => !isAbsolute(target))

const own = manifest.repository?.url.replace(/^git\+|\.git$/g, '') ?? ''
/** Links to files of this repository that name it. */
const ofThisRepository = links.filter(
  ({ target }) => target.startsWith(`${own}/`) && /\/(?:blob|tree|raw)\//.test(target),
)

/** The file that a relative link leads to, and the anchor in it. */
function fileOf({ page, target }: { page: string; target: string }): [string, string] {
  const [path = '', anchor = ''] = decodeURI(target).split('#')
  return [path === '' ? page : normalize(join(dirname(page), path)), anchor]
}

describe('a link in the manual', () => {
  it('leads to a file of the repository', () => {
    const broken = relative.filter((link) => !existsSync(join(root, fileOf(link)[0])))
    expect(broken.map(({ place, target }) => `${place}: ${target}`)).toEqual([])
  })

  it('leads to a heading, where it names one', () => {
    const broken = relative.filter((link) => {
      const [file, anchor] = fileOf(link)
      const path = join(root, file)
      if (anchor === '' || !file.endsWith('.md') || !existsSync(path)) return false
      return !anchorsOf(readFileSync(path, 'utf8')).has(anchor)
    })
    expect(broken.map(({ place, target }) => `${place}: ${target}`)).toEqual([])
  })

  it('leads from a guide to a file of this repository by a relative path, so that it fits the version', () => {
    const files = ofThisRepository.filter(({ page }) => !page.startsWith('docs/'))
    expect(files.map(({ place, target }) => `${place}: ${target}`)).toEqual([])
  })

  it('leads from a chapter to a file that exists, where the package has no copy of it', () => {
    const broken = ofThisRepository.filter(({ target }) => {
      const [path = ''] = target.replace(/^.*?\/(?:blob|tree|raw)\/[^/]+\//, '').split('#')
      return !existsSync(join(root, path))
    })
    expect(broken.map(({ place, target }) => `${place}: ${target}`)).toEqual([])
  })
})

describe("the package's copy of the manual", () => {
  it('has every file that a chapter links to or shows', () => {
    const packed = new Set(manifest.files.flatMap((files) => globSync(files, { cwd: root })))
    const dead = relative
      .filter(({ page }) => page.startsWith('docs/'))
      .filter((link) => !packed.has(fileOf(link)[0]))
    expect(dead.map(({ place, target }) => `${place}: ${target}`)).toEqual([])
  })
})

describe("the package's page", () => {
  it('knows the repository, from which it takes the targets of relative links', () => {
    expect(manifest.repository?.url).toMatch(/^git\+https:.*\.git$/)
  })

  it('shows links to chapters that are in the package too', () => {
    expect(manifest.files).toContain('docs/**/*.md')
  })
})

describe('anchors', () => {
  it('are those that GitHub makes', () => {
    expect(slugOf('`POST /register`: sign up')).toBe('post-register-sign-up')
    expect(slugOf('`max_size` of `<T>`')).toBe('max_size-of-t')
    expect(slugOf("What's new in [1.0](#x)?")).toBe('whats-new-in-10')
    const anchors = anchorsOf('# A\n\n```sh\n# no heading\n```\n\n## B _c_\n\n## A\n')
    expect([...anchors]).toEqual(['a', 'b-c', 'a-1'])
  })
})
