/**
 * The programs of a page. A block of TypeScript starts with a comment that names its file:
 *
 * - `// app.ts` begins the file, or a new version of it;
 * - `// app.ts, continued` adds to it;
 * - `// app.ts, on Deno` says where it runs (Node, Deno, Bun, Workers). Otherwise its imports tell, or it is Node.
 *
 * The files of a page see each other. A new version of a file begins a new edition of them all.
 *
 * @module
 */

import { type Block, blocksOf, textOf } from './pages.ts'

/** A file, put together from blocks. */
export interface File {
  readonly name: string
  readonly runtime: string
  readonly isRun: boolean
  readonly text: string
  /** The line of the page for each line of the file. */
  readonly lines: readonly number[]
}

/** The files of a page at one place of it. */
export type Files = ReadonlyMap<string, File>

/** A block of shell commands, and the JSON that a page says they print. */
export interface Commands {
  readonly block: Block
  /** The files at that place of the page. */
  readonly files: Files
  /** The program that the commands talk to: the last one before them that has an app, or the first one after them. */
  readonly program: string | undefined
  /** The text of the JSON blocks after them. */
  readonly expected: string
}

/** The files between two new versions. */
export interface Edition {
  readonly page: string
  readonly number: number
  readonly files: Files
  readonly commands: readonly Commands[]
  /** Whether the commands go to the atlas (`npm start`) instead of a program of the page. */
  readonly isOnAtlas: boolean
}

const HEADER =
  /^\/\/ (?<name>[\w./$+[\]-]+\.tsx?)(?<continued>, continued)?(?:, on (?<runtime>Node|Deno|Bun|Workers))?\b/

interface Header {
  readonly name: string
  readonly runtime: string | undefined
  readonly isContinued: boolean
}

/** What the first line of a block says; undefined where it names no file. */
export function headerOf(block: Block): Header | undefined {
  const found = HEADER.exec(block.text)?.groups
  if (!found?.name) return undefined
  return {
    name: found.name,
    runtime: found.runtime,
    isContinued: found.continued !== undefined,
  }
}

/** Whether a block says that it cannot run. */
export function isRun(block: Block): boolean {
  return !block.words.includes('no-run')
}

/** A page with this comment sends its commands to the atlas. */
const ATLAS = '<!-- commands: atlas -->'

/** The programs of a page with this comment need packages that are not here; a test in the folder that it names runs them. */
const ELSEWHERE = '<!-- programs: test/'

/** The editions of a page. Blocks without a file's name are left out; a test of their own finds them. */
export function editionsOf(page: string, text: string = textOf(page)): Edition[] {
  if (text.includes(ELSEWHERE)) return []
  const blocks = blocksOf(page, text)
  const reader = new Reader(page, text.includes(ATLAS))
  for (const [index, block] of blocks.entries()) {
    const header = block.language === 'ts' ? headerOf(block) : undefined
    if (header) reader.takeFile(block, header)
    else if (block.language === 'sh' && isRun(block))
      reader.takeCommands(block, shownAfter(block, blocks.slice(index + 1), text))
  }
  reader.endEdition()
  return reader.editions
}

/** Whether a program could answer commands: it has an app, and does not close it. */
function isServer({ text }: File): boolean {
  return /\bcreateApp\(|\bserve\(/.test(text) && !/\bapp\.close\(/.test(text)
}

const endOf = ({ line, text }: Pick<Block, 'line' | 'text'>) => line + text.split('\n').length

/** The JSON that a page shows after commands, under the same heading. */
function shownAfter(commands: Block, rest: readonly Block[], text: string): string {
  const lines = text.split('\n')
  let end = endOf(commands)
  const other = rest.findIndex(({ language, line, text: inside }) => {
    const isApart = lines.slice(end, line).some((one) => /^#+ /.test(one))
    end = endOf({ line, text: inside })
    return language !== 'json' || isApart
  })
  const shown = rest.slice(0, other < 0 ? rest.length : other)
  return shown.map((block) => block.text).join('')
}

/** Takes the blocks of a page one after the other. */
class Reader {
  readonly editions: Edition[] = []
  readonly #page
  readonly #isOnAtlas
  #files: Files = new Map()
  #changed = new Set<string>()
  #commands: Commands[] = []
  #program: string | undefined

  constructor(page: string, isOnAtlas: boolean) {
    this.#page = page
    this.#isOnAtlas = isOnAtlas
  }

  takeFile(block: Block, header: Header): void {
    const { name, isContinued } = header
    if (!isContinued && this.#changed.has(name)) this.endEdition()
    const file = joined(isContinued ? this.#files.get(name) : undefined, block, header)
    this.#files = new Map([...this.#files, [name, file]])
    this.#changed.add(name)
    if (isServer(file)) this.#program = name
  }

  takeCommands(block: Block, expected: string): void {
    this.#commands.push({ block, files: this.#files, program: this.#program, expected })
  }

  endEdition(): void {
    const files = this.#files
    const program = [...files.values()].find(isServer)?.name
    const commands = this.#commands.map((one) => (one.program ? one : { ...one, files, program }))
    if (this.#changed.size > 0 || commands.length > 0) {
      const number = this.editions.length + 1
      this.editions.push({
        page: this.#page,
        number,
        files,
        commands,
        isOnAtlas: this.#isOnAtlas,
      })
    }
    this.#changed = new Set()
    this.#commands = []
  }
}

function joined(before: File | undefined, block: Block, { name, runtime }: Header): File {
  const known = importsOf(before?.text ?? '')
  const added = before ? withoutImports(block.text, known) : block.text
  const text = `${before?.text ?? ''}${added}`
  const lines = added.split('\n').map((_, index) => block.line + 1 + index)
  return {
    name,
    runtime: runtime ?? runtimeIn(text),
    isRun: isRun(block) && before?.isRun !== false,
    text,
    lines: [...(before?.lines.slice(0, -1) ?? []), ...lines],
  }
}

function runtimeIn(text: string): string {
  if (/'fieldgate\/deno'|\bDeno\./.test(text)) return 'Deno'
  if (/'fieldgate\/bun'|\bBun\./.test(text)) return 'Bun'
  return /^export default (?:worker|\{)|'fieldgate\/workers'/m.test(text) ? 'Workers' : 'Node'
}

const IMPORT = /^import (?:type )?\{([^}]*)\} from '([^']+)'$/gm

function importsOf(text: string): Set<string> {
  const imports = [...text.matchAll(IMPORT)]
  return new Set(
    imports.flatMap(([, names = '', from]) => namesIn(names).map((name) => `${name} ${from}`)),
  )
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
}

/** A continued block may repeat an import for its readers. Lines stay where they are. */
function withoutImports(text: string, known: ReadonlySet<string>): string {
  return text.replace(IMPORT, (line: string, names: string, from: string) => {
    const missing = namesIn(names).filter((name) => !known.has(`${name} ${from}`))
    if (missing.length === namesIn(names).length) return line
    const rest = missing.length > 0 ? `import { ${missing.join(', ')} } from '${from}'` : ''
    return rest + '\n'.repeat(line.split('\n').length - 1)
  })
}

/** The file that one starts so that `program` answers: itself, or one that imports and serves it. */
export function serverOf(program: string, files: Files): File | undefined {
  const servers = [...files.values()].filter(
    ({ name, text }) =>
      name !== program && /\bserve\(/.test(text) && text.includes(`./${program}'`),
  )
  return servers[0] ?? files.get(program)
}

/** The files of an edition that no other of them imports: what one starts. */
export function mainFiles(files: Files): File[] {
  const imported = new Set(
    [...files.values()].flatMap(({ text }) =>
      [...text.matchAll(/from '\.\/([^']+)'|import\('\.\/([^']+)'\)/g)].map(([, a, b]) => a ?? b),
    ),
  )
  return [...files.values()].filter(({ name }) => !imported.has(name))
}
