import { AppContext } from '../../src/app/context.ts'
import { createAccount } from '../../src/auth/accounts/create-account.ts'
import {
  checkNames,
  namedAccount,
  withNormalIdentifiers,
} from '../../src/auth/accounts/credentials.ts'
import { addressOf, sendNewCode } from '../../src/auth/delivery/code-requests.ts'
import { type Auth, type AuthRequest, routeServedBy } from '../../src/auth/instance/instance.ts'
import { changeRoles } from '../../src/auth/routes/users.ts'
import { channelsThere } from '../../src/auth/setup/delivery-settings.ts'
import { guardedFields } from '../../src/auth/setup/model-checks.ts'
import { rolesIn } from '../../src/auth/setup/roles.ts'
import { HttpError } from '../../src/http/errors/errors.ts'
import type { ApiRequest } from '../../src/http/request/request.ts'
import { didYouMean } from '../../src/model/suggest.ts'
import type { Fields } from '../../src/ports/store/records.ts'
import type { Host } from '../../src/records/engine/host.ts'
import { command, type Run, Unusable } from './command.ts'

const USAGE = `Finds an account, gives it a role, or makes one.

  fieldgate user <module> --find <identifier> [--role <role>] [--create] [--values <json>] [--mount <path>] [--json]

  <module>  the file that exports your app: export const app = createApp({ … })
  --find    an email address, or another identifier of the account
  --role    the role that it gets, at once for open sessions too
  --create  makes the account if there is none; its password is set by a code, which is sent to it
  --values  other fields of the new account, as JSON: '{"name":"Ann"}'
  --mount   the auth router, if the app has several
  --json    prints { id, role, created }

Exit codes: 0 done, 1 there is no such account or role, or it could not be changed; nothing was, 2 could not run.`

/** Why the command ends with 1. */
class Refused extends Error {}

export const user: Run = command({
  usage: USAGE,
  names: ['find', 'role', 'values', 'mount'],
  flags: ['create'],
  async run({ values, flags, json }, open) {
    const { find, role } = values
    if (!find) throw new Unusable('name the account, as in --find ann@example.com')
    const fields = fieldsIn(values.values)
    const mayCreate = flags.has('create')
    if (values.values !== undefined && !mayCreate) {
      throw new Unusable('--values are those of a new account: add --create')
    }
    // What the app logs does not belong on the standard output.
    console.info = console.error
    const { app, host } = await open(mayCreate ? 'make' : 'existing')
    try {
      const auth = authOf(host, values.mount)
      await app.ready()
      const [account, isNew] = await done(auth, find, role, mayCreate ? fields : undefined)
      const shown = { id: String(account._id), role: account[auth.names.role], created: isNew }
      console.log(json ? JSON.stringify(shown) : lineOf(find, shown))
      if (isNew) await sendCode(auth, account)
      return 0
    } catch (error) {
      console.error(`fieldgate user: ${toldOf(error)}`)
      return 1
    }
  },
})

function toldOf(error: unknown): string {
  if (error instanceof Refused) return error.message
  if (!(error instanceof HttpError)) throw error
  const details = Object.entries(error.fields ?? {})
  return [error.message, ...details.map(([field, message]) => `${field}: ${message}`)].join(' ')
}

/** The account as it is now, and whether it is new: `create` has the other fields of one that may be made. */
async function done(
  auth: Auth,
  find: string,
  role: string | undefined,
  create: Fields | undefined,
): Promise<[Fields, boolean]> {
  const { list } = auth.roles
  if (role !== undefined && !list.includes(role)) {
    const meant = didYouMean(role, list)
    throw new Refused(`There is no role '${role}'.${meant} There are: ${list.join(', ')}.`)
  }
  const found = await namedAccount(auth, { identifier: find })?.find()
  if (!found && create) return [await created(auth, find, role, create), true]
  const account = found && role !== undefined ? await changeRoles(auth, found, [role]) : found
  if (!account) throw new Refused(noAccount(auth, find))
  return [account, false]
}

function lineOf(
  find: string,
  { id, role, created }: { id: string; role: unknown; created: boolean },
) {
  const roles = rolesIn(role).join(', ') || 'none'
  return `${find}  role ${roles}  id ${id}${created ? '  (new)' : ''}`
}

function fieldsIn(text = '{}'): Fields {
  try {
    const values: unknown = JSON.parse(text)
    if (values instanceof Object && !Array.isArray(values)) return values as Fields
  } catch {
    // As for other values.
  }
  throw new Unusable(`--values takes a JSON object, such as '{"name":"Ann"}'`)
}

function authOf(host: Host, mount: string | undefined): Auth {
  const all = host.mounted.flatMap(({ mount: at, routes }) => {
    const auth = routes.flatMap(({ handler }) => routeServedBy(handler)?.auth ?? [])[0]
    return auth ? [{ at, auth }] : []
  })
  const found = mount === undefined ? all : all.filter(({ at }) => at === mount)
  const [one, another] = found
  const mounts = all.map(({ at }) => at).join(', ') || 'none'
  if (!one)
    throw new Unusable(
      `there is no auth router${mount ? ` at ${mount}` : ''}. There are: ${mounts}`,
    )
  if (another) throw new Unusable(`the app has several auth routers: add --mount, one of ${mounts}`)
  return one.auth
}

function noAccount({ settings }: Auth, find: string): string {
  const names = settings.identifiers.map(({ field }) => field).join(', ')
  return `No account has the identifier '${find}'. Accounts are found by: ${names}. To make one, add --create.`
}

/** Makes an account without a password, which a code will set. */
async function created(
  auth: Auth,
  find: string,
  role: string | undefined,
  fields: Fields,
): Promise<Fields> {
  const { settings, names, users, roles } = auth
  const guarded = guardedFields(settings).find((field) => Object.hasOwn(fields, field))
  if (guarded !== undefined) {
    const instead =
      { [names.password]: ': a code sets it', [names.role]: ': use --role' }[guarded] ?? ''
    throw new Unusable(
      `--values can't have '${guarded}', which accounts write themselves${instead}`,
    )
  }
  const given = withNormalIdentifiers(settings, fields)
  checkNames(settings, given)
  const value = settings.identifiers
    .filter(({ kind }) => kind !== 'name')
    .map(({ field, normalize }) => ({ field, value: normalize(find) }))
    .find((one) => one.value !== undefined)
  if (!value) throw new Refused(`'${find}' is no email address or phone number of accounts here.`)
  const own = role !== undefined && (roles.multiple ? [role] : role)
  const values = { ...given, [names.role]: own || roles.first, [value.field]: value.value }
  if (!addressOf(auth, values, channelsThere(settings))) {
    throw new Unusable(`--create sends a code: set up 'mail', or 'sms' for phone numbers`)
  }
  const record = await users.engine.validate(values)
  const made = await createAccount(ownRequest(auth), await users.newId(), record)
  if (!made) throw new Refused(`'${find}' is taken by an account that it does not open.`)
  return made
}

async function sendCode(auth: Auth, account: Fields): Promise<void> {
  const address = addressOf(auth, account, channelsThere(auth.settings))
  const failures: string[] = []
  const error = (message: string, details?: object) =>
    void failures.push(`${message}: ${(details as { error?: string } | undefined)?.error}`)
  const own = { ...ownRequest(auth), logger: { ...auth.logger, error } }
  if (!address) return
  await sendNewCode(own, account, address.channel)
  const path = `POST ${auth.mount}${auth.settings.paths.get('forgotPassword') ?? ''}`
  if (failures.length === 0)
    console.error(`A code that sets the password was sent to ${address.to}.`)
  else
    console.error(`The account is there, but ${failures.join('; ')}. ${path} sends another code.`)
}

/** The accounts at what stands for the request of a client. */
function ownRequest(auth: Auth): AuthRequest {
  const request = new Request('http://localhost/') as ApiRequest
  Object.assign(request, { requestId: crypto.randomUUID(), params: {}, route: '', query: {} })
  const context = new AppContext(auth.host, request, 0, undefined, undefined)
  return { ...auth, request, context, route: 'register', client: undefined }
}
