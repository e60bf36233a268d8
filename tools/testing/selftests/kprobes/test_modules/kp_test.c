// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers probes on behalf of scripts.  Commands are lines that are written to
 * debugfs kp_test/control; the write returns the result of the command.
 *
 *	add NAME WORD...	register a probe, or a return probe
 *	again NAME		register the same struct once more
 *	del NAME		unregister the probe and free it
 *	enable NAME
 *	disable NAME
 *	call FUNCTION		call one of the functions below
 *
 * The words of "add" fill in the struct that is registered:
 *
 *	symbol=S offset=N addr=N	the members of that name
 *	post				it has a post_handler, too
 *	disabled			KPROBE_FLAG_DISABLED
 *	return				a return probe
 *	maxactive=N data_size=N		its members
 *	when=MODULE			register later, when that module is being loaded;
 *					the result is a column of kp_test/probes
 *	leaving=MODULE			the same, when it is being unloaded
 *	label				at the first jump label of that module
 *
 * Read kp_test/probes for a line for each probe: name, hits, hits of the post or
 * return handler, nmissed, result.  Read kp_test/sites for addresses that have
 * no symbol of their own: "name address".
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/compiler_types.h>
#include <linux/debugfs.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "sites.h"

#define NAME_SIZE	32
#define SYMBOL_SIZE	128
#define LINE_SIZE	512

/* --- Functions to probe and to call ------------------------------------------ */

static DEFINE_STATIC_KEY_FALSE(test_key);
static int test_data;

DEFINE_PLAIN_FUNCTION(".text", kp_test_plain);
DEFINE_PLAIN_FUNCTION(".text", kp_test_other);
DEFINE_REFUSED_FUNCTION(".text", kp_test_refused);

/* Has an instruction of ftrace at its entry. */
static noinline int kp_test_traced(void)
{
	return READ_ONCE(test_data) + 1;
}

/* Has a jump label. */
static noinline int kp_test_branch(void)
{
	if (static_branch_unlikely(&test_key))
		WRITE_ONCE(test_data, 1);
	return READ_ONCE(test_data);
}

/* Has a WARN. */
static noinline int kp_test_warn(void)
{
	WARN_ON(READ_ONCE(test_data) == 4711);
	return READ_ONCE(test_data);
}

static noinline int kp_test_nokprobe(void)
{
	return READ_ONCE(test_data) + 2;
}
NOKPROBE_SYMBOL(kp_test_nokprobe);

static noinline int __kprobes kp_test_section(void)
{
	return READ_ONCE(test_data) + 3;
}

static noinstr int kp_test_noinstr(void)
{
	return test_data + 4;
}

/* The functions of sites.h have no landing pad for the indirect call below. */
static int call_plain(void)
{
	return kp_test_plain();
}

static int call_other(void)
{
	return kp_test_other();
}

static const struct {
	const char *name;
	int (*function)(void);
} functions[] = {
	{ "plain",	call_plain },
	{ "other",	call_other },
	{ "traced",	kp_test_traced },
	{ "branch",	kp_test_branch },
	{ "warn",	kp_test_warn },
	{ "nokprobe",	kp_test_nokprobe },
	{ "section",	kp_test_section },
	{ "noinstr",	kp_test_noinstr },
};

static int call(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		if (!strcmp(functions[i].name, name)) {
			functions[i].function();
			return 0;
		}
	}
	return -ENXIO;
}

#ifdef CONFIG_JUMP_LABEL
static unsigned long jump_label_site(void)
{
	struct jump_entry *entry = THIS_MODULE->jump_entries;
	unsigned int i;

	for (i = 0; i < THIS_MODULE->num_jump_entries; i++) {
		if (jump_entry_key(&entry[i]) == &test_key.key)
			return jump_entry_code(&entry[i]);
	}
	return 0;
}

static unsigned long first_label(const struct module *mod)
{
	return mod->num_jump_entries ? jump_entry_code(mod->jump_entries) : 0;
}
#else
static unsigned long jump_label_site(void)
{
	return 0;
}

static unsigned long first_label(const struct module *mod)
{
	return 0;
}
#endif

#if defined(CONFIG_GENERIC_BUG) && defined(CONFIG_GENERIC_BUG_RELATIVE_POINTERS)
static unsigned long warn_site(void)
{
	struct bug_entry *bug = THIS_MODULE->bug_table;

	return THIS_MODULE->num_bugs ?
		(unsigned long)&bug->bug_addr_disp + bug->bug_addr_disp : 0;
}
#elif defined(CONFIG_GENERIC_BUG)
static unsigned long warn_site(void)
{
	return THIS_MODULE->num_bugs ? THIS_MODULE->bug_table->bug_addr : 0;
}
#else
static unsigned long warn_site(void)
{
	return 0;
}
#endif

static int sites_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "jump_label 0x%lx\n", jump_label_site());
	/* The address of a WARN() that cannot be probed. */
	seq_printf(m, "warn 0x%lx\n",
		   IS_ENABLED(CONFIG_HAVE_KPROBES_ON_BUGS) ? 0 : warn_site());
	seq_printf(m, "data 0x%lx\n", (unsigned long)&test_data);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sites);

/* --- Probes ------------------------------------------------------------------- */

/**
 * struct test_probe - a probe of a script
 * @list:	list of all probes, in the order of their commands
 * @name:	its name in the script
 * @symbol:	the text of rp.kp.symbol_name, if the command has one
 * @when:	name of the module to wait for, empty if none
 * @event:	the MODULE_STATE_* of that module to wait for
 * @label:	probe the first jump label of that module
 * @is_return:	rp is registered, otherwise rp.kp
 * @registered:	the probe is registered
 * @result:	result of the registration
 * @rp:		the probe, or the return probe
 * @hits:	calls of its pre_handler, or entry_handler
 * @after:	calls of its post_handler, or handler
 */
struct test_probe {
	struct list_head list;
	char name[NAME_SIZE];
	char symbol[SYMBOL_SIZE];
	char when[MODULE_NAME_LEN];
	unsigned long event;
	bool label;
	bool is_return;
	bool registered;
	int result;
	struct kretprobe rp;
	atomic_long_t hits;
	atomic_long_t after;
};

/* Guards the list and the probes on it; a notifier of modules takes it, too. */
static DEFINE_MUTEX(probes_mutex);
static LIST_HEAD(probes);

static int count_hit(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_long_inc(&container_of(kp, struct test_probe, rp.kp)->hits);
	return 0;
}

static void count_after(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	atomic_long_inc(&container_of(kp, struct test_probe, rp.kp)->after);
}

static int count_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_long_inc(&container_of(get_kretprobe(ri), struct test_probe, rp)->hits);
	return 0;
}

static int count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	if (rp)
		atomic_long_inc(&container_of(rp, struct test_probe, rp)->after);
	return 0;
}

static int register_it(struct test_probe *probe)
{
	return probe->is_return ? register_kretprobe(&probe->rp) :
				  register_kprobe(&probe->rp.kp);
}

static void unregister_it(struct test_probe *probe)
{
	if (probe->is_return)
		unregister_kretprobe(&probe->rp);
	else
		unregister_kprobe(&probe->rp.kp);
}

static struct test_probe *find_probe(const char *name)
{
	struct test_probe *probe;

	list_for_each_entry(probe, &probes, list) {
		if (!strcmp(probe->name, name))
			return probe;
	}
	return NULL;
}

static int set_number(const char *text, unsigned long *number)
{
	return kstrtoul(text, 0, number);
}

/* One word of "add". */
static int set_member(struct test_probe *probe, const char *key, const char *value)
{
	struct kprobe *kp = &probe->rp.kp;
	unsigned long number = 0;

	if (!strcmp(key, "symbol")) {
		kp->symbol_name = probe->symbol;
		return strscpy(probe->symbol, value) < 0 ? -ENXIO : 0;
	}
	if (!strcmp(key, "when") || !strcmp(key, "leaving")) {
		probe->event = *key == 'w' ? MODULE_STATE_COMING : MODULE_STATE_GOING;
		return strscpy(probe->when, value) < 0 ? -ENXIO : 0;
	}
	if (!strcmp(key, "post"))
		kp->post_handler = count_after;
	else if (!strcmp(key, "disabled"))
		kp->flags |= KPROBE_FLAG_DISABLED;
	else if (!strcmp(key, "return"))
		probe->is_return = true;
	else if (!strcmp(key, "label"))
		probe->label = true;
	else if (set_number(value, &number))
		return -ENXIO;
	else if (!strcmp(key, "offset"))
		kp->offset = number;
	else if (!strcmp(key, "addr"))
		kp->addr = (kprobe_opcode_t *)number;
	else if (!strcmp(key, "maxactive"))
		probe->rp.maxactive = number;
	else if (!strcmp(key, "data_size"))
		probe->rp.data_size = number;
	else
		return -ENXIO;
	return 0;
}

static int parse_members(struct test_probe *probe, char *words)
{
	char *word, *key;
	int ret = 0;

	while (!ret && (word = strsep(&words, " "))) {
		key = strsep(&word, "=");
		if (*key)
			ret = set_member(probe, key, word ?: "");
	}
	return ret;
}

static int add(const char *name, char *words)
{
	struct test_probe *probe __free(kfree) = NULL;
	int ret;

	if (find_probe(name))
		return -EEXIST;
	probe = kzalloc(sizeof(*probe), GFP_KERNEL);
	if (!probe)
		return -ENOMEM;
	if (strscpy(probe->name, name) < 0)
		return -ENXIO;
	ret = parse_members(probe, words);
	if (ret)
		return ret;

	if (probe->is_return) {
		probe->rp.entry_handler = count_entry;
		probe->rp.handler = count_return;
	} else {
		probe->rp.kp.pre_handler = count_hit;
	}
	if (!*probe->when) {
		ret = register_it(probe);
		if (ret)
			return ret;
		probe->registered = true;
	}
	list_add_tail(&no_free_ptr(probe)->list, &probes);
	return 0;
}

static void del(struct test_probe *probe)
{
	if (probe->registered)
		unregister_it(probe);
	list_del(&probe->list);
	kfree(probe);
}

/* --- Commands ----------------------------------------------------------------- */

static int run_on_probe(const char *command, struct test_probe *probe)
{
	if (!probe)
		return -ESRCH;
	if (!strcmp(command, "del")) {
		del(probe);
		return 0;
	}
	if (!strcmp(command, "again"))
		return register_it(probe);
	if (!strcmp(command, "enable"))
		return enable_kprobe(&probe->rp.kp);
	if (!strcmp(command, "disable"))
		return disable_kprobe(&probe->rp.kp);
	return -ENXIO;
}

static int run_command(char *line)
{
	char *command = strsep(&line, " ");
	char *name = strsep(&line, " ");

	if (!name)
		return -ENXIO;
	/* Without the mutex: calls run concurrently with other commands. */
	if (!strcmp(command, "call"))
		return call(name);

	guard(mutex)(&probes_mutex);
	if (!strcmp(command, "add"))
		return add(name, line);
	return run_on_probe(command, find_probe(name));
}

static ssize_t control_write(struct file *file, const char __user *buf, size_t count,
			     loff_t *pos)
{
	char *line __free(kfree) = NULL;
	int ret;

	if (count >= LINE_SIZE)
		return -ENXIO;
	line = memdup_user_nul(buf, count);
	if (IS_ERR(line))
		return PTR_ERR(line);
	ret = run_command(strim(line));
	return ret ?: count;
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = control_write,
};

static int probes_show(struct seq_file *m, void *unused)
{
	struct test_probe *probe;

	guard(mutex)(&probes_mutex);
	list_for_each_entry(probe, &probes, list)
		seq_printf(m, "%s %ld %ld %ld %d\n", probe->name,
			   atomic_long_read(&probe->hits),
			   atomic_long_read(&probe->after),
			   (long)probe->rp.kp.nmissed + probe->rp.nmissed,
			   probe->result);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(probes);

/* --- Waiting for modules -------------------------------------------------------- */

static int register_in(struct module *mod, struct test_probe *probe)
{
	if (probe->label) {
		probe->rp.kp.addr = (kprobe_opcode_t *)first_label(mod);
		if (!probe->rp.kp.addr)
			return -ENODATA;
	}
	return register_it(probe);
}

static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct test_probe *probe;
	struct module *mod = data;

	guard(mutex)(&probes_mutex);
	list_for_each_entry(probe, &probes, list) {
		if (strcmp(probe->when, mod->name) || probe->event != event ||
		    probe->registered)
			continue;
		probe->result = register_in(mod, probe);
		probe->registered = !probe->result;
	}
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = {
	.notifier_call = module_event,
	/* The same as for kprobe events that wait for a module. */
	.priority = 2,
};

/* The module that must not be loaded, empty if none. */
static char veto[MODULE_NAME_LEN];
module_param_string(veto, veto, sizeof(veto), 0600);

static int module_refused(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;

	return event == MODULE_STATE_COMING && !strcmp(veto, mod->name) ?
	       notifier_from_errno(-EPERM) : NOTIFY_DONE;
}

/* Is called after module_event(), which is then told that the module goes. */
static struct notifier_block refusing_notifier = {
	.notifier_call = module_refused,
};

static struct dentry *folder;

static int __init test_init(void)
{
	register_module_notifier(&module_notifier);
	register_module_notifier(&refusing_notifier);
	folder = debugfs_create_dir("kp_test", NULL);
	debugfs_create_file("control", 0200, folder, NULL, &control_fops);
	debugfs_create_file("probes", 0400, folder, NULL, &probes_fops);
	debugfs_create_file("sites", 0400, folder, NULL, &sites_fops);
	return 0;
}

static void __exit test_exit(void)
{
	struct test_probe *probe, *next;

	debugfs_remove_recursive(folder);
	unregister_module_notifier(&refusing_notifier);
	unregister_module_notifier(&module_notifier);
	list_for_each_entry_safe(probe, next, &probes, list)
		del(probe);
}

module_init(test_init);
module_exit(test_exit);
MODULE_DESCRIPTION("Registers probes for scripts, for the kprobes selftests");
MODULE_LICENSE("GPL");
