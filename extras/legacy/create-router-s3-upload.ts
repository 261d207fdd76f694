/** The upload router of 3.2, whose options are now in `createRouter({ upload })`. */

import type { Host } from '../../src/records/engine/host.ts'
import { createRouter, type Router } from '../../src/records/router.ts'
import type { RouterOptions } from '../../src/records/setup/options.ts'
import type { UploadOptions } from '../../src/uploads/options.ts'
import { warnOnce } from './warn.ts'

/** Options of `createRouterS3upload`: a router's options, and three of `upload` at the top level too. */
export interface RouterS3uploadOptions<R> extends RouterOptions<R> {
  /** Overrides `upload.path`. */
  readonly path?: UploadOptions['path']
  /** Overrides `upload.fields`. */
  readonly fields?: UploadOptions<keyof R & string>['fields']
  /** Overrides `upload.imgOptimizations`. */
  readonly imgOptimizations?: UploadOptions['imgOptimizations']
}

/**
 * A router that takes uploads.
 *
 * @deprecated Since 3.3; use `createRouter({ upload: { path, fields, imgOptimizations } })`. Removed in 4.0.
 */
export function createRouterS3upload<R>(options: RouterS3uploadOptions<R>): Router {
  const { path, fields, imgOptimizations, upload, ...rest } = { ...options }
  const router = createRouter<R>({
    ...rest,
    upload: {
      ...upload,
      ...(path !== undefined && { path }),
      ...(fields !== undefined && { fields }),
      ...(imgOptimizations !== undefined && { imgOptimizations }),
    },
  })
  const { attach } = router
  return Object.assign(router, {
    attach(host: Host, mount: string) {
      warnOnce(
        host.logger,
        'createRouterS3upload',
        'createRouterS3upload is deprecated: its options are now in createRouter({ upload }).',
        'ECS_DEP001',
      )
      return attach(host, mount)
    },
  })
}
