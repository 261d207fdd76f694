/** The bindings of a Worker, as wrangler gives them on this machine. */

import { createRequire } from 'node:module'
import { Unusable } from './unusable.ts'

export interface BindingOptions {
  /** The configuration. Default: the wrangler.toml or wrangler.json of this folder or one above. */
  readonly config?: string | undefined
  /** The environment in it. */
  readonly env?: string | undefined
}

let platform: ReturnType<typeof start> | undefined
let users = 0

/**
 * Opens the bindings: local databases, those of `wrangler dev`, except where the configuration says `remote = true`.
 * Throws an `Unusable` without wrangler. One process has one set of bindings: the last one who uses them closes them.
 */
export async function openBindings(options: BindingOptions): Promise<{
  /** What a Worker gets as `env`. */
  readonly env: Readonly<Record<string, unknown>>
  close(): Promise<void>
}> {
  platform ??= start(options)
  const { env, dispose } = await platform
  users += 1
  return {
    env,
    async close() {
      users -= 1
      if (users === 0) await dispose()
    },
  }
}

async function start({ config, env }: BindingOptions) {
  const { getPlatformProxy } = wrangler()
  try {
    return await getPlatformProxy({
      ...(config !== undefined && { configPath: config }),
      ...(env !== undefined && { environment: env }),
    })
  } catch (error) {
    throw new Unusable(`wrangler could not open the bindings: ${(error as Error).message}`)
  }
}

function wrangler(): typeof import('wrangler') {
  // Its notes would go to the standard output, which is for the result of a command.
  process.env.WRANGLER_LOG ??= 'warn'
  try {
    import.meta.resolve('wrangler')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new Unusable('the bindings of a Worker need wrangler: npm install --save-dev wrangler')
  }
  // An import would look through its 15 MB of CommonJS for names of exports: a quarter of a command's time.
  return createRequire(import.meta.url)('wrangler')
}
