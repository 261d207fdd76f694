/** The bytes of open files, as streams. */

import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stage } from '../../src/ports/services/files.ts'

const CHUNK = 64 * 1024

/** What hears of the reading of a file: that it has begun, perhaps several times, and that it ends, also early. */
interface Hearing {
  begun?(): void
  done?(): Promise<void>
}

export function bytesOf(
  file: FileHandle,
  start: number,
  end: number,
  { begun = () => {}, done = async () => {} }: Hearing = {},
): ReadableStream<Uint8Array> {
  let at = start
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        begun()
        try {
          const chunk = new Uint8Array(Math.min(CHUNK, end - at))
          const { bytesRead } = await file.read(chunk, 0, chunk.length, at)
          at += bytesRead
          if (bytesRead > 0) controller.enqueue(chunk.subarray(0, bytesRead))
          if (at < end && bytesRead > 0) return
          if (at < end) throw new Error('a file is shorter than it was')
          controller.close()
          await done()
        } catch (error) {
          await done()
          throw error
        }
      },
      cancel: done,
    },
    // Nothing is read before the first pull.
    { highWaterMark: 0 },
  )
}

/** Appends all of `chunk`; a single write may take only a part of it. */
export async function append(file: FileHandle, chunk: Uint8Array, at: number): Promise<void> {
  for (let from = 0; from < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, from, chunk.length - from, at + from)
    from += bytesWritten
  }
}

/** Bytes staged in `folder`, in a file without a name, so that not even a crash leaves it behind. */
export async function stageIn(folder: string): Promise<Stage> {
  const path = join(folder, randomUUID())
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  let size = 0
  let closing: Promise<void> | undefined
  return {
    async write(chunk) {
      await append(file, chunk, size)
      size += chunk.length
    },
    read: () => bytesOf(file, 0, size),
    discard() {
      closing ??= file.close()
      return closing
    },
  }
}
