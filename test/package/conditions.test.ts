import { expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

type Target = string | { readonly [condition: string]: Target }

/** What a bundler takes that knows these conditions. */
function chosen(target: Target, conditions: ReadonlySet<string>): string | undefined {
  if (typeof target === 'string') return target
  for (const [condition, next] of Object.entries(target)) {
    const found = conditions.has(condition) ? chosen(next, conditions) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

// Nitro, and so Nuxt, names all of these at once for Cloudflare, and its own order means nothing.
const nitro = new Set(
  'production workerd wintercg worker web browser edge-light netlify edge-routine deno import default'.split(
    ' ',
  ),
)
const workerd = new Set(['workerd', 'worker', 'browser', 'import', 'default'])

it.each(Object.entries<Target>({ ...manifest.imports, ...manifest.exports }))(
  '%s is that of Workers in what Nuxt builds for Cloudflare',
  (_, target) => {
    expect(chosen(target, nitro)).toBe(chosen(target, workerd))
  },
)
