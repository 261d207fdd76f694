/** What a router's options say of writes, resolved: which fields, which hooks, which files. */

import type { Model } from '../../model/model.ts'
import type { Fail } from '../../model/option-rules.ts'
import { noSuchField } from '../../model/suggest.ts'
import { isForbiddenKey } from '../../model/writable.ts'
import type { Fields } from '../../ports/store.ts'
import type { ModelFiles } from '../../uploads/model-files.ts'
import { resolveUpload, type Upload, type UploadOptions } from '../../uploads/options.ts'
import type { Host } from '../engine/host.ts'
import type { RunAfterCreate, Validate, ValidateOption } from '../rules/hooks.ts'
import type { FieldLists, RouterOptions } from './options.ts'
import { withoutProtected } from './protected-fields.ts'

/** What clients may write, and what happens with it. */
export interface WriteRules {
  readonly writable: { readonly create: ReadonlySet<string>; readonly update: ReadonlySet<string> }
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

/** Resolves the options of writes. */
export function writeRules(
  host: Host,
  mount: string,
  options: RouterOptions<Fields>,
  fail: Fail,
): WriteRules {
  const { model, runAfterCreate, strictAfterCreate = false, upload } = options
  return {
    writable: writableFields(host, mount, options, fail),
    validate: validators(options.validate),
    runAfterCreate,
    strictAfterCreate,
    hooks: options,
    upload: upload && uploadOf(host, mount, model, upload, fail),
    files: host.filesOf(model),
  }
}

function uploadOf(
  host: Host,
  mount: string,
  model: Model,
  options: UploadOptions,
  fail: Fail,
): Upload {
  const upload = resolveUpload(options, model.shape, fail)
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

function writableFields(
  host: Host,
  mount: string,
  options: RouterOptions<Fields>,
  fail: Fail,
): WriteRules['writable'] {
  const { model, allowedFields, blockedFields, access } = options
  const isClosed = access?.create === false && access.update === false
  if (!isClosed && !allowedFields && !blockedFields) {
    host.logger.warn(
      `Router '${mount}': every field of '${model.name}' is writable. Name the writable ones in 'allowedFields'.`,
    )
  }
  const every = Object.keys(model.fields)
  const named = (option: string, lists: FieldLists<Fields> | undefined, operation: Operation) => {
    const names = isList(lists) ? lists : lists?.[operation]
    for (const name of names ?? []) {
      if (!model.shape.fields.has(name)) {
        fail(noSuchField(option, name, model))
      }
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
  host.onReady(() => withoutProtected(host, options, sets, fail))
  return sets
}

type Operation = 'create' | 'update'

function isList(lists: FieldLists<Fields> | undefined): lists is readonly string[] {
  return Array.isArray(lists)
}

function validators(option: ValidateOption<Fields> | undefined): WriteRules['validate'] {
  return typeof option === 'function' ? { create: option, update: option } : (option ?? {})
}
