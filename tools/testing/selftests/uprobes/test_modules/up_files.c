// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file system whose pages can only be read for an open file, as those of FUSE and NFS. Mount it
 * as "up_files": its only file, "file", has the bytes of the file that the parameter "path"
 * names. The parameter "blind" is the number of pages that were to be read without an open file.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/fs_context.h>
#include <linux/highmem.h>
#include <linux/module.h>
#include <linux/pagemap.h>

#define MAGIC 0x75706673

static char *path;
module_param(path, charp, 0444);
static unsigned int blind;
module_param(blind, uint, 0444);

static struct file *original;

static int files_read_folio(struct file *file, struct folio *folio)
{
	loff_t pos = folio_pos(folio);
	void *kaddr;
	ssize_t n;

	/* FUSE would follow a NULL pointer. */
	if (!file) {
		blind++;
		folio_unlock(folio);
		return -EIO;
	}
	kaddr = kmap_local_folio(folio, 0);
	n = kernel_read(file->private_data, kaddr, PAGE_SIZE, &pos);
	if (n >= 0)
		memset(kaddr + n, 0, PAGE_SIZE - n);
	kunmap_local(kaddr);
	if (n >= 0)
		folio_mark_uptodate(folio);
	folio_unlock(folio);
	return n < 0 ? n : 0;
}

static const struct address_space_operations files_aops = {
	.read_folio = files_read_folio,
};

static int files_open(struct inode *inode, struct file *file)
{
	file->private_data = original;
	return 0;
}

static const struct file_operations files_fops = {
	.owner = THIS_MODULE,
	.open = files_open,
	.llseek = generic_file_llseek,
	.read_iter = generic_file_read_iter,
	.mmap = generic_file_readonly_mmap,
};

static struct dentry *files_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	struct inode *inode = NULL;

	if (!strcmp(dentry->d_name.name, "file")) {
		inode = new_inode(dir->i_sb);
		if (!inode)
			return ERR_PTR(-ENOMEM);
		inode->i_ino = 2;
		inode->i_mode = S_IFREG | 0555;
		inode->i_fop = &files_fops;
		inode->i_mapping->a_ops = &files_aops;
		simple_inode_init_ts(inode);
		i_size_write(inode, i_size_read(file_inode(original)));
	}
	return d_splice_alias(inode, dentry);
}

static const struct inode_operations files_folder = {
	.lookup = files_lookup,
};

static const struct super_operations files_super = {
	.statfs = simple_statfs,
};

static int files_fill(struct super_block *sb, struct fs_context *fc)
{
	struct inode *inode;

	sb->s_op = &files_super;
	sb->s_magic = MAGIC;
	inode = new_inode(sb);
	if (!inode)
		return -ENOMEM;
	inode->i_ino = 1;
	inode->i_mode = S_IFDIR | 0555;
	inode->i_op = &files_folder;
	inode->i_fop = &simple_dir_operations;
	simple_inode_init_ts(inode);
	sb->s_root = d_make_root(inode);
	return sb->s_root ? 0 : -ENOMEM;
}

static int files_get_tree(struct fs_context *fc)
{
	return get_tree_single(fc, files_fill);
}

static const struct fs_context_operations files_context = {
	.get_tree = files_get_tree,
};

static int files_init_context(struct fs_context *fc)
{
	fc->ops = &files_context;
	return 0;
}

static struct file_system_type files_type = {
	.owner = THIS_MODULE,
	.name = "up_files",
	.init_fs_context = files_init_context,
	.kill_sb = kill_anon_super,
};

static int __init up_files_init(void)
{
	int err;

	original = filp_open(path ?: "", O_RDONLY, 0);
	if (IS_ERR(original))
		return PTR_ERR(original);
	err = register_filesystem(&files_type);
	if (err)
		filp_close(original, NULL);
	return err;
}

static void __exit up_files_exit(void)
{
	unregister_filesystem(&files_type);
	filp_close(original, NULL);
}

module_init(up_files_init);
module_exit(up_files_exit);
MODULE_DESCRIPTION("A file system that reads pages only for an open file");
MODULE_LICENSE("GPL");
