/** What a router's options say of writes, resolved: which fields, which hooks, which files. */

import type { Model } from '../../model/model.ts'
import { isNames } from '../../model/option-rules.ts'
import { noSuchField } from '../../model/suggest.ts'
import { isForbiddenKey } from '../../model/writable.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { ModelFiles } from '../../uploads/model-files.ts'
import { resolveUpload, type Upload, type UploadOptions } from '../../uploads/options.ts'
import { demandsRole } from '../engine/guards.ts'
import type { Host } from '../engine/host.ts'
import type { RunAfterCreate, Validate } from '../rules/hooks.ts'
import { resolveAccess } from './access.ts'
import type { FieldLists, RouterOptions, Setup } from './options.ts'

export interface WriteRules {
  readonly writable: Readonly<Record<Operation, ReadonlySet<string>>>
  readonly validate: { readonly create?: Validate<Fields>; readonly update?: Validate<Fields> }
  readonly runAfterCreate: RunAfterCreate<Fields> | undefined
  readonly strictAfterCreate: boolean
  readonly hooks: Pick<
    RouterOptions<Fields>,
    'beforeUpdate' | 'afterUpdate' | 'beforeRemove' | 'afterRemove'
  >
  readonly upload: Upload | undefined
  /** The model's file fields, including those of other routers. */
  readonly files: ModelFiles
}

export function writeRules(setup: Setup): WriteRules {
  const { host, options } = setup
  const { model, validate = {}, runAfterCreate, strictAfterCreate = false, upload } = options
  return {
    writable: writableFields(setup),
    validate: typeof validate === 'function' ? { create: validate, update: validate } : validate,
    runAfterCreate,
    strictAfterCreate,
    hooks: options,
    upload: upload && uploadOf(setup, upload),
    files: host.filesOf(model),
  }
}

function uploadOf({ host, mount, options, fail }: Setup, given: UploadOptions): Upload {
  const upload = resolveUpload(given, options.model.shape, fail)
  if ((upload.imgOptimizations || upload.allowClientImageOptions) && !host.images) {
    fail(`'upload' compresses images, which needs createApp({ images: sharpImages() })`)
  }
  if (host.files && !host.uploads) {
    fail(
      `'upload' needs its code in this bundle: createApp({ files: { …, uploads } }), with 'uploads' of fieldgate/uploads`,
    )
  }
  if (!host.files) {
    host.logger.warn(
      `Router '${mount}': files are refused. Give createApp a file store in 'files'.`,
    )
  }
  return upload
}

function writableFields(setup: Setup): WriteRules['writable'] {
  const { host, mount, options, fail } = setup
  const { model, allowedFields, blockedFields, access } = options
  const isClosed = access?.create === false && access.update === false
  if (!isClosed && !allowedFields && !blockedFields) {
    host.logger.warn(
      `Router '${mount}': every field of '${model.name}' is writable. Name the writable ones in 'allowedFields'.`,
    )
  }
  const every = Object.keys(model.fields)
  const named = (option: string, lists: FieldLists<Fields> | undefined, operation: Operation) => {
    const names = isNames(lists) ? lists : lists?.[operation]
    for (const name of names ?? []) {
      if (!model.shape.fields.has(name)) fail(noSuchField(option, name, model))
    }
    return names
  }
  const writable = (operation: Operation): Set<string> => {
    const blocked = new Set(named('blockedFields', blockedFields, operation))
    const allowed = named('allowedFields', allowedFields, operation) ?? every
    const kept = options.legacyMode ? every : allowed.filter((name) => !blocked.has(name))
    return new Set(
      kept.filter((name) => Object.hasOwn(model.fields, name) && !isForbiddenKey(name)),
    )
  }
  const sets = { create: writable('create'), update: writable('update') }
  // The router that protects the model may be mounted later.
  host.onReady(() => withoutProtected(setup, sets))
  return sets
}

type Operation = 'create' | 'update'

/** Refuses a router that opens protected fields; takes them from an operation that uses the default. */
function withoutProtected(setup: Setup, writable: Readonly<Record<Operation, Set<string>>>): void {
  const { host, options } = setup
  const { model, allowedFields, legacyMode } = options
  const guarded = host.protectedFields(model)
  if (!guarded) return
  if (legacyMode)
    setup.fail(`'legacyMode' cannot be used with '${model.name}', which holds accounts`)
  if (!allowedFields) {
    setup.fail(
      `'allowedFields' must name the writable fields of '${model.name}', which holds accounts`,
    )
  }
  for (const operation of ['create', 'update'] as const) {
    const named = Array.isArray(allowedFields) || Object.hasOwn(allowedFields, operation)
    for (const field of guarded) {
      if (named && writable[operation].has(field)) checkNamed(setup, field)
      else writable[operation].delete(field)
    }
  }
}

/** Refuses the protected `field` in `allowedFields`, unless it is the role, behind guards that demand a role. */
function checkNamed({ host, options, fail }: Setup, field: string): void {
  const { model } = options
  const named = `'allowedFields' names '${field}' of '${model.name}', which holds accounts`
  if (!host.roleFields(model)?.has(field)) {
    fail(
      `${named}: only the auth routes write it. Take it out; identifiers change by 'updateFields' of the auth router`,
    )
  }
  const { create, update } = resolveAccess(options, fail)
  const before = options.middlewares ?? []
  if ([create, update].some((own) => own && !demandsRole([...before, ...own]))) {
    fail(
      `${named}: put requireAuth and requireRole(…) into 'middlewares', or into 'access.create' and 'access.update'`,
    )
  }
}

/** The fields that a client may write, before start-up has removed those that another router protects. */
export function writableNow(
  { host, model, writable }: Pick<WriteRules, 'writable'> & { host: Host; model: Model },
  operation: Operation,
): readonly string[] {
  const fields = writable[operation]
  const guarded = host.protectedFields(model)
  if (!guarded || ![...guarded].every((field) => fields.has(field))) return [...fields]
  return [...fields].filter((field) => !guarded.has(field))
}
