import { expect, it } from 'vitest'
import * as webCompression from '../../adapters/compression/web.ts'
import * as zlibCompression from '../../adapters/compression/zlib.ts'
import * as contexts from '../../adapters/contexts/async.ts'
import * as hmac from '../../adapters/hashers/hmac.ts'
import * as noble from '../../adapters/hashers/noble.ts'
import * as scrypt from '../../adapters/hashers/scrypt.ts'
import * as noSmtp from '../../adapters/mailers/none.ts'
import * as smtp from '../../adapters/mailers/smtp.ts'
import * as common from '../../adapters/passwords/common.ts'
import * as noPasswords from '../../adapters/passwords/none.ts'
import * as noReference from '../../adapters/reference/none.ts'
import * as reference from '../../adapters/reference/scalar.ts'
import * as node from '../../adapters/runtimes/messages/node-response.ts'
import * as web from '../../adapters/runtimes/messages/web-response.ts'
import * as alone from '../../adapters/runtimes/processes/alone.ts'
import * as processes from '../../adapters/runtimes/processes/shared.ts'
import * as noUploads from '../../adapters/uploads/none.ts'
import * as uploads from '../../src/uploads/index.ts'

/** What src expects of each module that package.json chooses by runtime; the compiler compares them. */
const choices = {
  '#compression': [zlibCompression, webCompression],
  '#contexts': [contexts],
  '#hmac': [hmac],
  '#passwords': [common, noPasswords],
  '#processes': [processes, alone],
  '#reference': [reference, noReference],
  '#response': [node, web],
  '#scrypt': [scrypt, noble],
  '#smtp': [smtp, noSmtp],
  '#uploads': [uploads, noUploads],
} satisfies {
  '#compression': typeof import('#compression')[]
  '#contexts': typeof import('#contexts')[]
  '#hmac': typeof import('#hmac')[]
  '#passwords': typeof import('#passwords')[]
  '#processes': typeof import('#processes')[]
  '#reference': typeof import('#reference')[]
  '#response': typeof import('#response')[]
  '#scrypt': typeof import('#scrypt')[]
  '#smtp': typeof import('#smtp')[]
  '#uploads': typeof import('#uploads')[]
}

it.each(Object.entries(choices))('every module behind %s has the same names', (_, modules) => {
  const [first, ...others] = modules.map((module) => Object.keys(module).sort())
  for (const names of others) expect(names).toEqual(first)
})
