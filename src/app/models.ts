/** The models of an app: one engine for each, and what routers declare about it. */

import { addPath, collectionSchema, type ModelSchema } from '../model/collection-schema.ts'
import { lastDefined, type Model } from '../model/model.ts'
import { renamedCollection } from '../model/versions/renamed-collection.ts'
import type { Collection, CollectionSchema } from '../ports/store/store.ts'
import type { Author } from '../records/engine/author.ts'
import type { WriteOfModels } from '../records/engine/integrity.ts'
import type { Models, ScopeOption, SearchField } from '../records/engine/models.ts'
import { RecordEngine, type Surroundings } from '../records/engine/record-engine.ts'
import { loggedCollection } from '../records/engine/stepwise.ts'
import { ModelFiles } from '../uploads/model-files.ts'

export interface AppModels extends Models {
  /** The collections of their records, and the ones that go with them. */
  schemas(): readonly CollectionSchema[]
  /** The same as `modelNamed`, which keeps to it from now on: another app may define a model with this name. */
  settled(name: string): Model | undefined
}

export interface ModelNeeds {
  readonly engines: Surroundings
  /** Opens a collection in which every write counts as a write of the model named `model`. */
  open(model: string, schema: CollectionSchema): Collection
  readonly write: WriteOfModels
  /** Declares that start-up has more to do: always, or only if it is over already. */
  declared(when: 'always' | 'started'): void
}

function newEntry({ engines, open, write }: ModelNeeds, model: Model) {
  const schema = collectionSchema(model)
  const stored = open(model.name, schema)
  const writtenBy = (author?: Author) => {
    const own = loggedCollection(stored, author, (step) =>
      write([model.name], [{ in: schema, ...step }]),
    )
    return renamedCollection(own, model)
  }
  const engine = model.changes
    ? new RecordEngine(model, schema, writtenBy(), { ...engines, writtenBy })
    : new RecordEngine(model, schema, renamedCollection(stored, model), engines)
  return {
    ...{ engine, stored, schema, files: new ModelFiles() },
    /** The schemas of collections that go with it. */
    twins: [] as ModelSchema[],
    scopes: [] as (ScopeOption | undefined)[],
    searched: new Map<string, SearchField>(),
    shown: undefined as Parameters<Models['declareShown']>[1] | undefined,
    guarded: new Set<string>(),
    roles: new Set<string>(),
  }
}

export function appModels(needs: ModelNeeds): AppModels {
  const { open, declared } = needs
  const entries = new Map<Model, ReturnType<typeof newEntry>>()
  const settled = new Map<string, Model>()

  function entryOf(model: Model) {
    const known = entries.get(model)
    if (known) return known
    checkApart(entries.keys(), model)
    const entry = newEntry(needs, model)
    entries.set(model, entry)
    declared('always')
    return entry
  }

  function modelNamed(name: string): Model | undefined {
    for (const model of entries.keys()) if (model.name === name) return model
    return settled.get(name) ?? lastDefined(name)
  }

  return {
    known: () => entries.keys(),
    schemas: () => [...entries.values()].flatMap(({ schema, twins }) => [schema, ...twins]),
    engine: (model) => entryOf(model).engine,
    stored: (model) => entryOf(model).stored,
    twin(model, name) {
      const { schema, twins } = entryOf(model)
      // Its records need not have what the model requires.
      const { adopted: _, exclude: __, changes: ___, ...loose } = { ...model, absence: new Map() }
      const own = collectionSchema(loose, `fieldgate_${name}_${model.collection}`)
      own.searchable = schema.searchable
      twins.push(own)
      return open(model.name, own)
    },
    modelNamed,
    settled(name) {
      const model = modelNamed(name)
      if (model) settled.set(name, model)
      return model
    },
    declareSearch(model, path) {
      const { schema, twins } = entryOf(model)
      if (!addPath(schema, 'searchable', path, model)) return
      for (const twin of twins) addPath(twin, 'searchable', path, model)
      // The checks of a start may declare more for that same start; afterwards another start is needed.
      declared('started')
    },
    declareSearched(model, fields) {
      // Several routers may search the same field.
      for (const one of fields) entryOf(model).searched.set(JSON.stringify(one), one)
    },
    searchedIn: (model) => [...entryOf(model).searched.values()],
    declareList: (model, field) => void addPath(entryOf(model).schema, 'lists', field, model),
    declareScope: (model, scope) => void entryOf(model).scopes.push(scope),
    declareShown(model, shown) {
      entryOf(model).shown = shown
    },
    shownThrough: (model, request) => entries.get(model)?.shown?.(request),
    protect(model, fields, role) {
      const { guarded, roles } = entryOf(model)
      for (const field of fields) guarded.add(field)
      roles.add(role)
    },
    roleFields: (model) => entries.get(model)?.roles,
    protectedFields(model) {
      const { guarded } = entries.get(model) ?? {}
      return guarded?.size ? guarded : undefined
    },
    filesOf: (model) => entryOf(model).files,
    scopesOf: (model) => entries.get(model)?.scopes ?? [],
  }
}

function checkApart(others: Iterable<Model>, { name, collection }: Model): void {
  for (const other of others) {
    if (other.name === name) {
      const accounts = name === 'User' ? ` (that of createAuthRouter is auth.model)` : ''
      throw new TypeError(
        `Model '${name}': the app already has another model with this name. Use one${accounts} everywhere, also in several routers with a scope, or give one of them another name`,
      )
    }
    if (other.collection === collection) {
      throw new TypeError(
        `Model '${name}': its collection '${collection}' is that of the model '${other.name}'. Use one model, in several routers with a scope, or give one of them another 'collection'`,
      )
    }
    if (other.collection.toLowerCase() === collection.toLowerCase()) {
      throw new TypeError(
        `Model '${name}': its collection '${collection}' and '${other.collection}' of the model '${other.name}' differ only in case, which not every store tells apart. Give one of them another 'collection'`,
      )
    }
  }
}
