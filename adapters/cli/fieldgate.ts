#!/usr/bin/env node
/**
 * The command `fieldgate`: `fieldgate <command> <module> [options]`.
 *
 * @module
 */

import { existsSync, readFileSync } from 'node:fs'
import { causeOf } from '../../src/http/errors/outages.ts'
import { whatThereIs } from '../../src/model/suggest.ts'
import { audit } from './audit.ts'
import { backfill } from './backfill.ts'
import { backup } from './backup.ts'
import { changes } from './changes.ts'
import { check } from './check.ts'
import { packageFolder, Unusable } from './command.ts'
import { copy } from './copy.ts'
import { doctor } from './doctor.ts'
import { jobs } from './jobs.ts'
import { openapi } from './openapi.ts'
import { end } from './unusable.ts'
import { user } from './user.ts'

const COMMANDS = {
  check: {
    about: 'reads every stored record through your models and tells what does not fit',
    run: check,
  },
  backfill: {
    about: 'stores what your app shows of old records: new names, converted values, defaults',
    run: backfill,
  },
  copy: { about: 'copies all records to another store', run: copy },
  doctor: {
    about:
      'tells what your app would not keep of a database of Mongoose; --upgrade: what to read before an upgrade',
    run: doctor,
  },
  audit: { about: 'prints who may do what on each route of your app', run: audit },
  openapi: { about: 'prints the OpenAPI document of your app', run: openapi },
  user: { about: 'finds an account, gives it a role, or makes one', run: user },
  jobs: { about: 'prints when each job runs next, and how its last run ended', run: jobs },
  changes: {
    about: 'prints how far consumers and webhooks are behind, and tries again what was set aside',
    run: changes,
  },
  backup: { about: 'copies a SQLite database to a new file while the app serves', run: backup },
} as const

const USAGE = `fieldgate <command> <module> [options]

${Object.entries(COMMANDS)
  .map(([name, { about }]) => `  ${name.padEnd(10)}${about}`)
  .join('\n')}

  <module>  the file that exports your app: export const app = createApp({ … }), or the export default of a Worker

Variables that are not set are taken from the file .env of this folder, if it is there.

A Worker's app gets its bindings from wrangler, as in wrangler dev: --config <wrangler.toml> and --env <environment>
choose other ones than those of this folder.

fieldgate <command> --help tells the options of a command, fieldgate --version the version. Exit codes: 0 fine, 1 problems found, 2 could not run.`

const [, , name = '', ...args] = process.argv
await end(run())

async function run(): Promise<number> {
  if (name === '--version' || name === '-v') {
    const manifest = readFileSync(new URL('package.json', packageFolder()), 'utf8')
    console.log(JSON.parse(manifest).version)
    return 0
  }
  if (['', '-h', '--help', 'help'].includes(name)) {
    console.log(USAGE)
    return 0
  }
  const command = Object.hasOwn(COMMANDS, name) && COMMANDS[name as keyof typeof COMMANDS]
  if (!command) {
    const there = whatThereIs(name, Object.keys(COMMANDS))
    console.error(`fieldgate: there is no command '${name}'.${there} See fieldgate --help.`)
    return 2
  }
  try {
    // Variables that are set already stay.
    if (existsSync('.env')) process.loadEnvFile()
    return await command.run(args)
  } catch (error) {
    console.error(`fieldgate ${name}: ${causeOf(error)}`)
    if (!(error instanceof Unusable) && process.env.DEBUG) console.error(error)
    return 2
  }
}
