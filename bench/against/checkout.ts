/**
 * Another commit in a tree of its own.
 *
 * @module
 */

import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** On the same disk as the records of this tree, so that writes of both wait for the same thing. */
const parent = join(root, '.cache', 'bench')

/** A tree with its dependencies. */
export interface Checkout {
  readonly folder: string
  /** The commit's short name. */
  readonly name: string
  remove(): void
}

/** This tree as it is, with what is not committed. */
export function thisTree(): Checkout {
  const changed = git('status', '--porcelain') === '' ? '' : ', changed'
  return { folder: root, name: `this tree (${short('HEAD')}${changed})`, remove() {} }
}

/** The tree of `commit` in a temporary folder. It shares the dependencies if they are the same, else it installs its own. */
export function checkedOut(commit: string): Checkout {
  const name = short(commit)
  mkdirSync(parent, { recursive: true })
  const temporary = mkdtempSync(join(parent, 'against-'))
  // PostgreSQL runs as a user without rights, from the dependencies in it.
  chmodSync(temporary, 0o755)
  const folder = join(temporary, 'tree')
  const remove = () => {
    rmSync(temporary, { recursive: true, force: true })
    git('worktree', 'prune')
  }
  try {
    git('worktree', 'add', '--detach', folder, name)
    if (lockOf(folder) === lockOf(root)) {
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    } else {
      execFileSync('npm', ['ci', '--no-progress'], { cwd: folder, stdio: 'inherit' })
    }
  } catch (error) {
    remove()
    throw error
  }
  return { folder, name, remove }
}

function short(commit: string): string {
  return git('rev-parse', '--short', '--verify', `${commit}^{commit}`)
}

function lockOf(folder: string): string {
  return readFileSync(join(folder, 'package-lock.json'), 'utf8')
}

function git(...args: readonly string[]): string {
  const stdio = ['ignore', 'pipe', 'pipe'] as const
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: [...stdio] }).trim()
}
