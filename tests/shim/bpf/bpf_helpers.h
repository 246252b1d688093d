/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stands in for libbpf's header of the same name, so that the BPF programs compile for the
 * host. What the helpers do is in shim.c; how tests steer them, in shim.h.
 */
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

struct task_struct;
struct vm_area_struct;
struct kmem_cache;

#undef __always_inline
#undef __noinline
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline, unused))
#define SEC(name)
#define __ksym
#define __weak __attribute__((weak))

/* Maps stay the structs of pointers that libbpf makes of them: their sizes can be read. */
#define __uint(name, val) int(*name)[val]
#define __type(name, val) __typeof__(val) *name
#define __array(name, val) __typeof__(val) *name[]

#define barrier_var(var) __asm__ volatile("" : "+r"(var))
#define barrier() shim_point()

/* Programs that know the machine's memory order take the way of the machine that tests. */
#ifdef __x86_64__
#define __TARGET_ARCH_x86
#endif

void *bpf_map_lookup_elem(void *map, const void *key);
long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags);
void *bpf_task_storage_get(void *map, struct task_struct *task, void *value, __u64 flags);
long bpf_task_storage_delete(void *map, struct task_struct *task);
void *bpf_ringbuf_reserve(void *ring, __u64 size, __u64 flags);
void bpf_ringbuf_submit(void *data, __u64 flags);
void bpf_ringbuf_discard(void *data, __u64 flags);
long bpf_ringbuf_output(void *ring, void *data, __u64 size, __u64 flags);
__u64 bpf_ringbuf_query(void *ring, __u64 what);
__u64 bpf_ktime_get_ns(void);
__u64 bpf_jiffies64(void);
__u32 bpf_get_smp_processor_id(void);
__u32 bpf_get_prandom_u32(void);
long bpf_map_delete_elem(void *map, const void *key);
long bpf_loop(__u32 count, long (*step)(__u32 index, void *data), void *data, __u64 flags);
long bpf_find_vma(struct task_struct *task, __u64 address,
		  long (*found)(struct task_struct *task, struct vm_area_struct *area, void *data), void *data,
		  __u64 flags);
struct task_struct *bpf_task_from_pid(__s32 pid);
void *bpf_rdonly_cast(void *object, __u32 type);
void bpf_task_release(struct task_struct *task);
struct kmem_cache *bpf_get_kmem_cache(__u64 address);
long bpf_probe_read_user(void *to, __u32 size, const void *from);
long bpf_copy_from_user_task(void *to, __u32 size, const void *from, struct task_struct *task, __u64 flags);
long bpf_get_task_stack(struct task_struct *task, void *frames, __u32 size, __u64 flags);
long bpf_probe_read_user_str(void *to, __u32 size, const void *from);
__u64 bpf_get_attach_cookie(void *ctx);
long bpf_get_stack(void *ctx, void *frames, __u32 size, __u64 flags);
struct task_struct *bpf_get_current_task_btf(void);
__u64 bpf_get_current_task(void);
long bpf_task_pt_regs(struct task_struct *task);
long bpf_probe_read_kernel(void *to, __u32 size, const void *from);
long bpf_probe_read_kernel_str(void *to, __u32 size, const void *from);

/* Where another CPU may come in between: at each helper, atomic operation and barrier. */
void shim_point(void);

#define __sync_fetch_and_add(p, v) (shim_point(), __sync_fetch_and_add(p, v))
#define __sync_lock_test_and_set(p, v) (shim_point(), __sync_lock_test_and_set(p, v))
#define __sync_val_compare_and_swap(p, a, b) (shim_point(), __sync_val_compare_and_swap(p, a, b))

/*
 * The options are constants that the engine sets before loading: so do the tests, and so they
 * must not be in read-only memory. shim.h gives const back to the code of the tests.
 */
#define const
