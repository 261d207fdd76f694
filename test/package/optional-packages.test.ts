import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }

const dist = join(import.meta.dirname, '../../dist')
const optional = Object.entries(packageJson.peerDependenciesMeta)
  .filter(([, { optional: is }]) => is)
  .map(([name]) => name)

/** Entries that apps import only with their package installed. */
const WITH_PACKAGE = /(?:aws-sdk|wrangler)/

it('bundlers let an app pass that has none of the optional packages', () => {
  const found: string[] = []
  for (const file of globSync('**/*.js', { cwd: dist })) {
    const text = readFileSync(join(dist, file), 'utf8')
    const { program } = parseSync(file, text)
    new Visitor({
      ImportExpression({ source }) {
        const name = source.type === 'Literal' ? String(source.value) : ''
        if (optional.includes(name) && !WITH_PACKAGE.test(name))
          found.push(`${file}: import('${name}')`)
      },
      NewExpression({ start, end }) {
        const code = text.slice(start, end)
        if (/^new URL\([^)]*import\.meta\.url/.test(code)) found.push(`${file}: ${code}`)
      },
    }).visit(program)
  }
  expect(found).toEqual([])
})
