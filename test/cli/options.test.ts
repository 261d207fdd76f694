import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { audit } from '../../adapters/cli/audit.ts'
import { backfill } from '../../adapters/cli/backfill.ts'
import { backup } from '../../adapters/cli/backup.ts'
import { changes } from '../../adapters/cli/changes.ts'
import { check } from '../../adapters/cli/check.ts'
import { copy } from '../../adapters/cli/copy.ts'
import { doctor } from '../../adapters/cli/doctor.ts'
import { openapi } from '../../adapters/cli/openapi.ts'
import { Unusable } from '../../adapters/cli/unusable.ts'
import { user } from '../../adapters/cli/user.ts'
import { openFilesAs, pathToOpen } from '../../adapters/stores/sqlite/connection/opening.ts'

// The tests of other files in this process make files.
afterAll(() => openFilesAs('make'))

const commands = { audit, backfill, backup, changes, check, copy, doctor, openapi, user }

async function said(line: string): Promise<string> {
  const [name, ...args] = line.split(' ')
  const error = await commands[name as keyof typeof commands](args).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(Unusable)
  return error.message
}

describe('a command tells of arguments that make no sense in one sentence', () => {
  it.each([
    ['check app.ts --jso', "there is no option '--jso'. Did you mean '--json'?"],
    [
      'check app.ts --colour',
      "there is no option '--colour'. There are: --help, --config, --env, --json.",
    ],
    ['check -x app.ts', "there is no option '-x'. There are: --help, --config, --env, --json."],
    ['check app.ts --json=yes', "'--json' takes no value"],
    ['check app.ts --help=yes', "'--help' takes no value"],
    ['copy app.ts --to', "'--to' needs a value"],
    ['copy app.ts --to --json', "'--to' needs a value"],
    ['copy app.ts --to sqlite:a.db --to=sqlite:b.db', "'--to' is given twice"],
    ['backup --to a.db app.ts --to a.db', "'--to' is given twice"],
    ['changes app.ts --rety mails', "there is no option '--rety'. Did you mean '--retry'?"],
    ['check app.ts other.ts', "'other.ts' is one argument too many: only the module has no name"],
  ])('%s', async (line, message) => {
    expect(await said(line)).toBe(message)
  })

  it.each(Object.keys(commands))('%s takes one module', async (name) => {
    expect(await said(`${name} app.ts extra`)).toMatch(/^'extra' is one argument too many/)
  })
})

describe('a command checks its options before it loads the app', () => {
  it.each([
    ['backup', /^name the new file: --to/],
    ['copy', /^name the store to copy to: --to/],
    ['copy --to nowhere:x', /^--to: 'nowhere:x' is not a store/],
    ['copy --to ', /^name the store to copy to/],
    ['copy --to sqlite:a.db --from ', /^--from: '' is not a store/],
    ['copy --to mysql://me:sesame@db/app', /^--to: '…db\/app' is not a store/],
    ['copy --to libsql//db?authToken=sesame', /^--to: 'libsql…' is not a store/],
    ['copy --to sqlite', /^--to: 'sqlite' is not a store/],
    ['copy --to sqlite:', /^the address names no file/],
    ['copy --to sqlite:\t', /^the address names no file/],
    ['copy --to sqlite::memory:', /^'sqlite::memory:' may be in memory/],
    ['copy --to sqlite:file:x?mode=memory', /^'sqlite:file:x\?mode=memory' may be in memory/],
    ['copy --to mongodb://127.0.0.1:1', /^the address names no database/],
    ['copy --to sqlite:a.db --from sqlite::memory:', /^'sqlite::memory:' may be in memory/],
    ['copy --to sqlite:a.db --from mongodb://host', /^the address names no database/],
    ['copy --to sqlite:a.db --from sqlite:none.db', /^there is no file 'none\.db'/],
    ['openapi --version 4', /^--version is 3\.2 or 3\.1, not '4'/],
    ['audit --against none.json', /^--against: 'none\.json' could not be read/],
    ['user', /^name the account/],
    ['user --find ann --values {}', /^--values are those of a new account: add --create/],
    ['doctor --mongo mongodb://host', /^the address names no database/],
    ['doctor --since 0.1.0', /^--since goes with --upgrade/],
    ['doctor --upgrade --mongo mongodb://host/a', /^--mongo does not go with --upgrade/],
  ])('%s', async (line, message) => {
    expect(await said(`${line} not-there.ts`)).toMatch(message)
  })

  it('backup: the new file must not be there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fieldgate-backup-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'a.db')
    await writeFile(file, '')
    await expect(backup(['not-there.ts', '--to', file])).rejects.toThrow('is there already')
  })

  it('and then says which file is not there', async () => {
    expect(await said('check not-there.ts')).toBe(
      `there is no file 'not-there.ts' in ${process.cwd()}`,
    )
    expect(await said('check /not-there.ts')).toBe("there is no file '/not-there.ts'")
  })

  it('says of a database that is not there yet what makes it', () => {
    openFilesAs('existing')
    const why = 'Your app makes its database at its first start'
    expect(() => pathToOpen('a.db')).toThrow(`there is no file 'a.db' in ${process.cwd()}. ${why}`)
    expect(() => pathToOpen('/none/a.db')).toThrow(`there is no file '/none/a.db'. ${why}`)
  })
})

it('a copy from a source that cannot be reached makes no target', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-copy-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [module, file] = [join(folder, 'app.ts'), join(folder, 'a.db')]
  const at = (path: string) => new URL(`../../${path}`, import.meta.url).pathname
  await writeFile(
    module,
    `import { createApp } from '${at('src/index.ts')}'
    import { sqliteStore } from '${at('adapters/stores/sqlite/node.ts')}'
    export const app = createApp({ store: sqliteStore() })`,
  )
  const from = 'postgres://nobody@127.0.0.1:1/none'
  await expect(copy([module, '--from', from, '--to', `sqlite:${file}`])).rejects.toThrow(
    'the database cannot be used',
  )
  expect(existsSync(file)).toBe(false)
})
