/**
 * Each kind of change that a model can go through.
 *
 * @module
 */

import * as z from 'zod'
import type { Fields } from '../../src/index.ts'
import type { Version } from './served.ts'

/** A change of a model, and what clients see of one record that was stored before it. */
export interface Change {
  readonly before: Version
  /** What the old version stored. */
  readonly stored: Fields
  readonly after: Version
  /** What the new version shows of it. */
  readonly shown: Fields
  /** Parameters of a list that find the record before a backfill. */
  readonly found: readonly string[]
  /** Parameters that find it only after one. */
  readonly foundAfter: readonly string[]
  /** What `fieldgate check` finds. */
  readonly problems: readonly string[]
  /** The fields that start-up warns of. */
  readonly warned?: string
  /** Whether a field gets a type that PostgreSQL has another type of column for. */
  readonly isRetyped?: true
}

const name = z.string()

/** Each kind of change. */
export const CHANGES: Readonly<Record<string, Change>> = {
  'an optional field is added': {
    before: { fields: { name } },
    stored: { name: 'a' },
    after: { fields: { name, note: z.string().optional() } },
    shown: { name: 'a' },
    found: ['?name=a'],
    foundAfter: [],
    problems: [],
  },
  'a required field is added': {
    before: { fields: { name } },
    stored: { name: 'a' },
    after: { fields: { name, size: z.number() } },
    shown: { name: 'a' },
    found: ['?name=a'],
    foundAfter: [],
    problems: ['missing size'],
    warned: 'size',
  },
  'a field with a default is added': {
    before: { fields: { name } },
    stored: { name: 'a' },
    after: { fields: { name, size: z.number().default(3), tags: z.array(z.string()).default([]) } },
    shown: { name: 'a', size: 3, tags: [] },
    found: ['?name=a', '?sort=size'],
    foundAfter: ['?size=3'],
    problems: [],
    warned: 'size, tags',
  },
  'a field with a default is added inside an object and a list': {
    before: {
      fields: { in: z.object({ x: z.number() }), list: z.array(z.object({ a: z.number() })) },
    },
    stored: { in: { x: 1 }, list: [{ a: 1 }, { a: 2 }] },
    after: {
      fields: {
        in: z.object({ x: z.number(), y: z.number().default(2) }),
        list: z.array(z.object({ a: z.number(), b: z.string().nullable().default(null) })),
      },
    },
    shown: {
      in: { x: 1, y: 2 },
      list: [
        { a: 1, b: null },
        { a: 2, b: null },
      ],
    },
    found: ['?in.x=1'],
    foundAfter: ['?in.y=2'],
    problems: [],
    warned: 'in, list',
  },
  'a field is renamed': {
    before: { fields: { surname: name, size: z.number() } },
    stored: { surname: 'a', size: 1 },
    after: {
      fields: { lastName: name, size: z.number() },
      options: { renamed: { surname: 'lastName' } },
    },
    shown: { lastName: 'a', size: 1 },
    found: ['?lastName=a', '?sort=-lastName', '?size=1'],
    foundAfter: [],
    problems: [],
    warned: 'surname, lastName',
  },
  'a type changes, with a conversion': {
    before: { fields: { name, age: z.string() } },
    stored: { name: 'a', age: '42' },
    after: { fields: { name, age: z.number() }, options: { convert: { age: Number } } },
    shown: { name: 'a', age: 42 },
    found: ['?name=a'],
    foundAfter: ['?age=42'],
    problems: [],
    warned: 'age',
    isRetyped: true,
  },
  'a type changes, without one': {
    before: { fields: { name, age: z.string() } },
    stored: { name: 'a', age: 'old' },
    after: { fields: { name, age: z.number() } },
    shown: { name: 'a', age: 'old' },
    found: ['?name=a'],
    foundAfter: [],
    problems: ['type age'],
    warned: 'age',
    isRetyped: true,
  },
  'an object takes the place of a string': {
    before: { fields: { address: z.object({ line: z.string() }) } },
    stored: { address: { line: 'x' } },
    after: {
      fields: { home: z.object({ street: z.string(), zip: z.string().default('-') }) },
      options: {
        renamed: { address: 'home' },
        convert: { home: (old: { line: string }) => ({ street: old.line, zip: '1' }) },
      },
    },
    shown: { home: { street: 'x', zip: '1' } },
    found: [],
    foundAfter: ['?home.street=x'],
    problems: [],
    warned: 'address, home',
  },
  'an enum is narrowed': {
    before: { fields: { kind: z.enum(['a', 'b']) } },
    stored: { kind: 'b' },
    after: { fields: { kind: z.enum(['a']) } },
    shown: { kind: 'b' },
    found: [''],
    foundAfter: [],
    problems: ['invalid kind'],
    warned: 'kind',
  },
  'an enum is narrowed, with a conversion': {
    before: { fields: { kind: z.enum(['a', 'b']) } },
    stored: { kind: 'b' },
    after: { fields: { kind: z.enum(['a']) }, options: { convert: { kind: () => 'a' } } },
    shown: { kind: 'a' },
    found: [''],
    foundAfter: ['?kind=a'],
    problems: [],
    warned: 'kind',
  },
  'a field is dropped': {
    before: { fields: { name, secret: z.string() } },
    stored: { name: 'a', secret: 's' },
    after: { fields: { name } },
    shown: { name: 'a' },
    found: ['?name=a'],
    foundAfter: [],
    problems: ['undeclared secret'],
    warned: 'secret',
  },
}
