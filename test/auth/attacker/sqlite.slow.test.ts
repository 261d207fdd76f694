import { expect, it } from 'vitest'
import { seeds } from '../../runs.ts'
import { sqliteOnDisk } from '../../stores/sqlite/on-disk.ts'
import { attack } from './programme.ts'

it.each(seeds(3))(
  'nothing that an attacker was ever shown opens what is not theirs (%i)',
  { timeout: 300_000 },
  async (seed) => expect(await attack(await sqliteOnDisk(), seed)).toBeUndefined(),
)
