/** Uploads that tell how far they are. It is loaded when it is used. */

import type { Progress, Received } from './answers.ts'

/** A request through XMLHttpRequest, the only way to see the progress of an upload. */
export function uploaded(
  url: string,
  { method = '', headers, body, signal }: RequestInit & { headers: Headers },
  onProgress: (progress: Progress) => void,
): Promise<Received> {
  return new Promise((resolve) => {
    // Signals of React Native, and of browsers of 2021, can't throw it.
    if (signal?.aborted) throw signal.reason ?? new Error('Aborted')
    const request = new XMLHttpRequest()
    const abort = () => request.abort()
    signal?.addEventListener('abort', abort)
    request.open(method, url)
    headers.forEach((value, name) => {
      request.setRequestHeader(name, value)
    })
    request.upload.onprogress = ({ loaded, total }) => onProgress({ loaded, total })
    // Also after an error, and when it was aborted: the status is 0 then.
    request.onloadend = () => {
      signal?.removeEventListener('abort', abort)
      resolve({
        status: request.status,
        text: async () => request.responseText || 'Request failed.',
        headers: { get: (name) => request.getResponseHeader(name) },
      })
    }
    request.send(body as FormData)
  })
}
